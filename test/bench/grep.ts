import { spawnSync } from 'node:child_process';
import { PROJECTS } from '../support/projects.ts';
import type { Dataset } from './dataset.ts';

/** Seconds that a scan of the files takes, for scale; null where the program is missing. */
export interface Scanned {
  readonly grepListMs: number | null;
  readonly jqCountsMs: number | null;
}

const NEWEST = 'grep -F "$1" "$2" | tail -n 100';
const DAILY = `
  reduce (inputs | select(.timestamp >= $since and (.metadata.request.url | test($project)))) as $line ({};
    ($line.metadata.request.path) as $path
    | .[$line.timestamp[:10]] |= {
        rest: ((.rest // 0) + (if ($path | contains("/rest")) then 1 else 0 end)),
        storage: ((.storage // 0) + (if ($path | contains("/storage")) then 1 else 0 end)),
        auth: ((.auth // 0) + (if ($path | contains("/auth")) then 1 else 0 end)),
        realtime: ((.realtime // 0) + (if ($path | contains("/realtime")) then 1 else 0 end))
      }
  )`;
const WEEK_MS = 7 * 24 * 3_600_000;
const SCAN_MS = 10 * 60_000;

/** The two questions put to the file of edge lines: the newest by grep and tail, the counts by jq. */
export function scanFiles(data: Dataset): Scanned {
  const path = data.files.find(({ source }) => source === 'edge_logs')?.path ?? '';
  const project = PROJECTS[0] ?? '';
  const since = new Date(Date.now() - WEEK_MS).toISOString();
  return {
    grepListMs: time('sh', ['-c', NEWEST, 'sh', `"project":"${project}"`, path]),
    jqCountsMs: time('jq', [
      '-n',
      '--arg',
      'project',
      project,
      '--arg',
      'since',
      since,
      DAILY,
      path,
    ]),
  };
}

function time(program: string, options: string[]): number | null {
  const begin = performance.now();
  const { error, status } = spawnSync(program, options, { stdio: 'ignore', timeout: SCAN_MS });
  return error || status !== 0 ? null : performance.now() - begin;
}
