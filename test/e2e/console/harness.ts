import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { Source } from '../../../ingest/index.ts';
import { eventually, TOKEN, withFolder, withService } from '../../support/helpers.ts';

/** A running service with the console of these sources, and a browser to look at it. */
export interface Harness {
  readonly url: string;
  /** Whatever a page did that it may not: errors, violations of the policy, requests to elsewhere. */
  readonly faults: string[];
  /** Appends lines to a source and waits until each is stored or rejected. */
  write(source: Source, lines: readonly string[]): Promise<void>;
  /** Waits until a source has so many entries. */
  stored(source: Source, entries: number): Promise<void>;
  /** A new tab in a browser of its own, closed afterwards; with the token, unless `token` is null. */
  visit(address: string, look: (page: Page) => Promise<void>, options?: Visit): Promise<void>;
  close(): Promise<void>;
}

export type Visit = BrowserContextOptions & { readonly token?: string | null };

/** Debian's. */
export const CHROMIUM = '/usr/bin/chromium';

/** It may not ask anyone for anything, so that a test that passes here passes everywhere. */
const LAUNCH = {
  executablePath: CHROMIUM,
  args: [
    '--no-sandbox',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  ],
};

/** Starts service and browser, and keeps them until `close`; `args` are those of the command, such as `demo`. */
export async function openStage(args: readonly string[] = []): Promise<Harness> {
  const browser = await chromium.launch(LAUNCH);
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let ended: Promise<void> = Promise.resolve();
  const served = await new Promise<{ url: string; data: string }>((resolve, reject) => {
    ended = withFolder((data) =>
      withService(
        data,
        ({ url }) => {
          resolve({ url, data });
          return released;
        },
        // The folder of a demo is removed with that of the test.
        { args, env: { TMPDIR: data } },
      ),
    );
    ended.catch(reject);
  });
  const close = async () => {
    await browser.close();
    release();
    await ended;
  };
  return harness(browser, served.url, served.data, close);
}

function harness(browser: Browser, url: string, data: string, close: () => Promise<void>): Harness {
  const faults: string[] = [];
  const counts = async (source: Source) => {
    const response = await fetch(`${url}/api/ledger`, { headers: { 'X-API-KEY': TOKEN } });
    const { result } = (await response.json()) as {
      result: { source: string; lines: number; stored: number }[];
    };
    return result.find((entry) => entry.source === source) ?? { lines: 0, stored: 0 };
  };
  return {
    url,
    faults,
    close,
    async write(source, lines) {
      const before = (await counts(source)).lines;
      const file = join(data, 'logs', source, 'app.ndjson');
      mkdirSync(dirname(file), { recursive: true });
      appendFileSync(file, lines.map((line) => `${line}\n`).join(''));
      await eventually(async () =>
        expect((await counts(source)).lines).to.equal(before + lines.length),
      );
    },
    async stored(source, entries) {
      await eventually(async () => expect((await counts(source)).stored).to.equal(entries));
    },
    async visit(address, look, { token = TOKEN, ...options } = {}) {
      const context = await browser.newContext({
        viewport: { width: 1280, height: 800 },
        timezoneId: 'UTC',
        ...options,
      });
      // In the tab alone, as the console keeps it.
      if (token !== null)
        await context.addInitScript(`sessionStorage.setItem('tailpond-token', '${token}')`);
      const page = await context.newPage();
      page.setDefaultTimeout(30_000);
      watch(page, url, faults);
      try {
        await page.goto(url + address);
        await look(page);
      } finally {
        await context.close();
      }
    },
  };
}

function watch(page: Page, url: string, faults: string[]) {
  page.on('pageerror', (error) => faults.push(`${error}`));
  page.on('dialog', (dialog) => {
    faults.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  // Errors, and what breaks the policy.
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(message.text());
  });
  page.on('request', (request) => {
    if (!/^(blob|data):/.test(request.url()) && new URL(request.url()).origin !== url)
      faults.push(`a request to ${request.url()}`);
  });
}
