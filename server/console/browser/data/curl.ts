/** The command that asks the same in a shell; the token is a variable of it, never its text. */
export function curlOf(path: string, options: { output?: string; stream?: boolean } = {}): string {
  const flags = options.stream ? '-sSN' : '-sS';
  const output = options.output ? ` -o ${options.output}` : '';
  // A query string is encoded, quotes included, so that it cannot leave the quotes of the shell.
  const url = new URL(path, location.origin).href.replaceAll("'", '%27');
  return `curl ${flags}${output} -H "X-API-KEY: $TAILPOND_TOKEN" '${url}'`;
}
