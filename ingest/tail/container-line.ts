/** The form of the lines in a source's files, beside JSON objects, which all may have. */
export type LineFormat = 'json' | 'cri';

export const LINE_FORMATS: readonly LineFormat[] = ['json', 'cri'];

/** The moment, the stream, tags of which the first says whether the line goes on in the next, and what was written. */
const CRI = /^(\d{4}-\d\d-\d\dT\S{6,64}) (stdout|stderr) ([FP])(?::\S*)?(?: (.*))?$/s;

/**
 * A line as a container runtime of Kubernetes writes it, `2026-11-20T10:00:00.1Z stdout F text`, as the object that Docker writes of the
 * same: `time`, `stream` and `log`, with `partial` where the runtime cut it in pieces. A newline behind it. Null for any other line.
 */
export function containerLine(line: Buffer): Buffer | null {
  const [, time, stream, tag, log = ''] = CRI.exec(line.toString()) ?? [];
  if (time === undefined) return null;
  const object = { time, stream, log, ...(tag === 'P' ? { partial: true } : {}) };
  return Buffer.from(`${JSON.stringify(object)}\n`);
}
