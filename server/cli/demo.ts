import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { allSources } from '../../ingest/index.ts';
import { makeFolder } from '../config/make-folder.ts';
import { dayUntil, linesOf, SHOP, type StoryLine } from './demo-story.ts';

/** A scratch data folder that is written to. */
export interface Demo {
  readonly data: string;
  /** Stops writing and removes the folder. */
  close(): void;
}

const EVERY_MS = 250;

/** The environment with the application's source added to the operator's. */
export function withDemoSources(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const own = env.TAILPOND_SOURCES?.trim();
  return { ...env, TAILPOND_SOURCES: own ? `${own},${SHOP}` : SHOP };
}

/** Makes a scratch data folder with the lines of a day in it, and keeps writing others. */
export async function startDemo(logger: Logger): Promise<Demo> {
  const data = mkdtempSync(join(tmpdir(), 'tailpond-demo-'));
  for (const source of allSources()) makeFolder(join(data, 'logs', source));
  const write = (lines: Iterable<StoryLine>) => {
    const texts = new Map<string, string>();
    for (const { source, line } of lines) {
      const text = typeof line === 'string' ? line : JSON.stringify(line);
      texts.set(source, `${texts.get(source) ?? ''}${text}\n`);
    }
    for (const [source, text] of texts)
      appendFileSync(join(data, 'logs', source, 'demo.ndjson'), text);
  };
  write(dayUntil(Date.now()));
  const timer = setInterval(() => write(linesOf(Date.now(), EVERY_MS)), EVERY_MS);
  logger.info(
    `demo: the lines of a day, with an outage some three hours ago, and more as they come, below ${data}; it is removed at the end`,
  );
  return {
    data,
    close() {
      clearInterval(timer);
      rmSync(data, { recursive: true, force: true });
    },
  };
}
