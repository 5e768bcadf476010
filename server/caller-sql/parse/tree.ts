import { reject } from '../error.ts';

/** A node of the engine's syntax tree, as `json_serialize_sql` gives it without empty and default members. */
export interface TreeNode {
  readonly type?: string;
  readonly class?: string;
  readonly query_location?: number;
  readonly [member: string]: unknown;
}

/** What every node may have. */
const COMMON = new Set(['type', 'class', 'alias', 'query_location']);

/**
 * Lets a node pass that has no members but `members`. What the engine's parser learns to read is refused this way until somebody has
 * thought about it.
 */
export function only(node: TreeNode, members: readonly string[], at: number | null): void {
  for (const member of Object.keys(node)) {
    if (!COMMON.has(member) && !members.includes(member))
      reject(at, `This is not supported in a caller's SQL (${member.replaceAll('_', ' ')})`);
  }
}

export function nodeOf(value: unknown): TreeNode {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('BUG: the engine gave another tree than expected');
  return value as TreeNode;
}

export function nodesOf(value: unknown): TreeNode[] {
  return Array.isArray(value) ? value.map(nodeOf) : [];
}

export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
