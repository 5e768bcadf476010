/** A fenced block of a page, or a hidden one. */
export interface Block {
  readonly page: string;
  /** The line of its fence, from 1. */
  readonly line: number;
  /** `sh`, `json`, `text`, …; empty when the fence has none. */
  readonly language: string;
  /** What stands behind the language: `skip=docker` is `{ skip: 'docker' }`, a bare word is `''`. */
  readonly info: Readonly<Record<string, string>>;
  readonly text: string;
  /** A `json` or `text` block with nothing but blank lines between: what the commands answer. */
  readonly answer: Block | null;
}

/**
 * The fenced blocks of a page, in order; an answer is only in the block that it belongs to. A comment `<!-- sh: why` that
 * ends in a line `-->` is a block of commands that a reader does not see: it brings about what the page speaks of.
 */
export function readBlocks(page: string, markdown: string): Block[] {
  const lines = markdown.split('\n');
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; ) {
    const { block, end } = blockAt(page, lines, at) ?? { block: null, end: at + 1 };
    at = end;
    if (!block) continue;
    const next = block.language === 'sh' ? blockAt(page, lines, firstText(lines, end)) : null;
    const answers = next && /^(json|text)$/.test(next.block.language);
    blocks.push(answers ? { ...block, answer: next.block } : block);
    if (answers) at = next.end;
  }
  return blocks;
}

function blockAt(page: string, lines: readonly string[], at: number) {
  const [, indent = '', language = '', info = ''] =
    /^( *)```(\w*) *(.*)$/.exec(lines[at] ?? '') ?? [];
  const fenced = /^ *```/.test(lines[at] ?? '');
  const hidden = /^<!-- sh: /.test(lines[at] ?? '');
  if (!fenced && !hidden) return null;
  const isEnd = (line: string) => (fenced ? line.trim() === '```' : line.trim() === '-->');
  const length = lines.slice(at + 1).findIndex(isEnd);
  if (length < 0) throw new Error(`${page}:${at + 1}: the block has no end`);
  const end = at + 1 + length;
  const text = lines
    .slice(at + 1, end)
    .map((line) => (line.startsWith(indent) ? line.slice(indent.length) : line))
    .join('\n');
  const block: Block = {
    page,
    line: at + 1,
    language: hidden ? 'sh' : language,
    info: readInfo(info),
    text,
    answer: null,
  };
  return { block, end: end + 1 };
}

function readInfo(info: string): Record<string, string> {
  const words = info.split(' ').filter(Boolean);
  return Object.fromEntries(words.map((word) => [...word.split('='), ''].slice(0, 2)));
}

function firstText(lines: readonly string[], from: number): number {
  const more = lines.slice(from).findIndex((line) => line.trim() !== '');
  return more < 0 ? lines.length : from + more;
}
