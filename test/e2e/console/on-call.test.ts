import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { eventually, TOKEN } from '../../support/helpers.ts';
import { SLOW } from '../../support/slow.ts';
import { INSTALL } from '../shippers/shippers.ts';
import { CHROMIUM, type Harness, openStage } from './harness.ts';

/** What a page may have against a request that got no answer, or was refused. */
const FAILED = /^Failed to load resource: (?:net::|the server responded with a status of 4\d\d)/;
const DAY = '/#/logs?source=*&last=24h';

describe('on call, with the outage of the demo', () => {
  let harness: Harness;

  before(async function () {
    this.timeout(300_000);
    if (!existsSync(CHROMIUM)) {
      console.log(`    skipped: ${CHROMIUM} missing; ${INSTALL}`);
      this.skip();
    }
    harness = await openStage(['demo']);
    await eventually(async () => {
      const { stored, lines, pending } = await sums();
      expect([pending, stored > 30_000 && lines > stored]).to.eql([0, true]);
    });
  });

  after(() => harness?.close());

  afterEach(() => {
    expect(harness?.faults.splice(0) ?? []).to.eql([]);
  });

  it('the cause is found from the red bar in five clicks', () =>
    harness.visit(DAY, async (page) => {
      let clicks = 0;
      const click = async (locator: ReturnType<Page['locator']>) => {
        clicks++;
        await locator.click();
      };
      await click(severities(page).getByRole('button', { name: /^error/ }));
      await eventually(async () =>
        expect(await severityColumn(page)).to.satisfy((texts: string[]) =>
          texts.every((text) => ['500', '503', 'error'].includes(text)),
        ),
      );
      await click(lines(page).first());
      await click(page.getByRole('button', { name: 'In all sources' }).first());
      const refused = lines(page).filter({ hasText: 'remaining connection slots' });
      await refused.last().waitFor();
      // Beside what PostgreSQL says there is what came of it, and nothing of other requests.
      await eventually(async () => expect(await lines(page).count()).to.be.within(2, 4));
      await click(refused.last());
      await click(page.getByRole('button', { name: 'Around this entry' }).last());
      await page.locator('.row.marked').getByText('remaining connection slots').waitFor();
      const cause = lines(page).filter({ hasText: '4.2.0 rolled back' });
      expect(await cause.textContent())
        .to.include('shop_logs')
        .and.to.include('database_pool_size=20');
      expect(await cause.isVisible()).to.equal(true);
      expect(clicks).to.be.below(10);
    }));

  it('frequent values are counted, and a click adds one or excludes it', () =>
    // The demo began a day ago: in a longer range no entry becomes too old while they are counted.
    harness.visit('/#/logs?source=edge_logs&last=2d', async (page) => {
      await page.getByRole('button', { name: 'Fields' }).click();
      const facets = page.getByRole('complementary', { name: 'Values of fields' });
      const search = page.getByLabel('Search', { exact: true });
      // What they have below them is there before the next one is clicked, which it moves.
      for (const field of ['project', 'status'])
        await facets
          .getByRole('button', { name: new RegExp(`^Only ${field}:`) })
          .first()
          .waitFor();
      await facets.getByRole('button', { name: 'method' }).click();
      const posts = facets.getByRole('button', { name: /^Only method:POST, / });
      const [, said = ''] = /([\d,]+)$/.exec((await posts.getAttribute('aria-label')) ?? '') ?? [];
      await posts.click();
      expect(await search.inputValue()).to.equal('method:POST');
      // Some more have come meanwhile.
      await eventually(async () => {
        const [, counted = ''] =
          /^([\d,]+) entries in this range/.exec(
            (await page.locator('.readout').textContent())?.trim() ?? '',
          ) ?? [];
        expect(numberOf(counted) - numberOf(said)).to.be.within(0, 100);
      });
      await facets.getByRole('button', { name: 'Not status:201' }).click();
      await eventually(async () =>
        expect(await search.inputValue()).to.equal('method:POST -status:201'),
      );
      await facets.getByLabel('Another field').fill('request.headers.user_agent');
      await page.keyboard.press('Enter');
      await facets.getByText('shop/4.2 node-fetch').waitFor();
      await facets.getByLabel('Another field').fill('no field (');
      await page.keyboard.press('Enter');
      await page.getByText('“no field (” is not the name of a field').waitFor();
      await page.reload();
      await facets.getByText('shop/4.2 node-fetch').waitFor();
    }));

  it('a field gets a column, and a view a name', () =>
    harness.visit('/#/logs?source=edge_logs&last=24h&q=status:503', async (page) => {
      await lines(page).first().click();
      await page.getByText('"/rest/v1/', { exact: false }).first().hover();
      await page.getByRole('button', { name: 'Column request.method' }).click();
      await page.locator('.heads').getByText('request.method').waitFor();
      expect(await page.locator('.row .cell').first().textContent()).to.match(/^(?:GET|POST)$/);
      await page.locator('.views summary').click();
      await page.getByLabel('Name of this view').fill('failing requests');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.goto(`${harness.url}/#/usage`);
      await page.reload();
      await page.getByRole('link', { name: 'Logs' }).click();
      await page.locator('.views summary').click();
      await page.getByRole('button', { name: 'failing requests', exact: true }).click();
      expect(await page.getByLabel('Search', { exact: true }).inputValue()).to.equal('status:503');
      await page.locator('.heads').getByText('request.method').waitFor();
      await page.locator('.columns summary').click();
      await page.getByRole('button', { name: 'Remove the column request.method' }).click();
      await page.locator('.heads').waitFor({ state: 'detached' });
    }));

  it('several sources are chosen, and each is exported by itself', () =>
    harness.visit('/#/logs?source=edge_logs&last=24h&level=error', async (page) => {
      await page.locator('.sources summary').click();
      await page.getByLabel('With shop_logs').check();
      await page.keyboard.press('Escape');
      await eventually(() => expect(page.url()).to.include('edge_logs%2Cshop_logs'));
      await eventually(async () => {
        const sources = new Set(await page.locator('.row .project').allTextContents());
        expect([...sources])
          .to.include('edge_logs')
          .and.to.include('shop_logs');
      });
      await page.locator('.share summary').click();
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Export shop_logs as NDJSON' }).click(),
      ]);
      const rows = readFileSync(await file.path(), 'utf8')
        .trim()
        .split('\n');
      expect(rows.length).to.be.above(10);
      expect(rows.slice(0, -1).every((row) => JSON.parse(row).severity === 'error')).to.equal(true);
    }));

  it('SQL is run, drawn and downloaded, and told what is wrong with it', () =>
    harness.visit('/#/sql?last=24h', async (page) => {
      await page.getByRole('img', { name: 'The numbers of the table below over time' }).waitFor();
      // A day has more minutes than an answer has rows.
      await page.getByText('1,000 rows, and there may be more').waitFor();
      const editor = page.getByLabel('SQL', { exact: true });
      await editor.fill('select * from shop_logs order by timestamp desc limit 3');
      await page.keyboard.press('Control+Enter');
      await page.getByText(/^3 rows/).waitFor();
      expect(await editor.inputValue()).to.equal(
        'select id, timestamp, event_message, metadata, project from shop_logs order by timestamp desc limit 3',
      );
      expect(await page.locator('.result thead th').allTextContents()).to.eql(
        'id timestamp event_message metadata project'.split(' '),
      );
      await page.locator('.share summary').click();
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Export result as CSV' }).click(),
      ]);
      expect(readFileSync(await file.path(), 'utf8').split('\r\n').length).to.be.within(4, 5);
      await editor.fill('select nothing from nowhere');
      await page.getByRole('button', { name: 'Run' }).click();
      await page
        .getByRole('alert')
        .getByText(/nowhere/)
        .waitFor();
      await page.getByText(/^3 rows/).waitFor();
      await page.getByRole('button', { name: 'auth_logs' }).click();
      await page.getByRole('button', { name: 'Run' }).click();
      await page.getByText(/^100 rows/).waitFor();
      expect(harness.faults.splice(0).filter((fault) => !FAILED.test(fault))).to.eql([]);
    }));

  it('a banner tells that the service is gone, and goes when it is back', () =>
    harness.visit(DAY, async (page) => {
      await lines(page).first().waitFor();
      await page.context().setOffline(true);
      await page.keyboard.press('r');
      const banner = page.getByRole('alert').filter({ hasText: 'cannot be reached' });
      await banner.waitFor();
      expect(await banner.count()).to.equal(1);
      const opacity = async () =>
        Number(await page.evaluate("getComputedStyle(document.querySelector('.rows')).opacity"));
      await eventually(async () => expect(await opacity()).to.be.below(1));
      expect(await lines(page).count()).to.be.above(10);
      await page.context().setOffline(false);
      await banner.waitFor({ state: 'detached' });
      await eventually(async () => expect(await opacity()).to.equal(1));
      expect(harness.faults.splice(0).filter((fault) => !FAILED.test(fault))).to.eql([]);
    }));

  for (const colorScheme of ['light', 'dark'] as const) {
    const isClean = (page: Page, what: string, within?: string) =>
      findsNothing(page, what, { within, colorsOnly: colorScheme === 'dark' });

    it(`the logs and their menus are without a finding of axe, ${colorScheme} ${SLOW}`, () =>
      harness.visit(
        `${DAY}&columns=request.method`,
        async (page) => {
          await page.getByRole('button', { name: 'Fields' }).click();
          await page.locator('.values').first().waitFor();
          // The newest rows differ from run to run, and some have no metadata.
          await lines(page)
            .filter({ has: page.locator('.rest:not(:empty)') })
            .nth(2)
            .click();
          await page.locator('.tree').waitFor();
          await isClean(page, 'logs');
          for (const menu of ['sources', 'ranges', 'columns', 'views', 'share']) {
            await page.locator(`.${menu} summary`).click();
            await isClean(page, menu, `.${menu}`);
            await page.keyboard.press('Escape');
          }
          await page.keyboard.press('?');
          await page.getByRole('dialog').waitFor();
          await isClean(page, 'help', 'dialog');
        },
        { colorScheme },
      ));

    it(`the other pages are without a finding of axe, ${colorScheme} ${SLOW}`, () =>
      harness.visit(
        '/#/sql?last=24h',
        async (page) => {
          await page.locator('.result table').first().waitFor();
          await isClean(page, 'SQL');
          for (const [key, shown] of [
            ['3', '.usage table'],
            ['4', '.rejected .row'],
          ] as const) {
            await page.keyboard.press(key);
            await page.locator(shown).first().waitFor();
            await isClean(page, shown);
          }
          await page.locator('.rejected .line').first().click();
          await isClean(page, 'a rejected line');
          await page.getByRole('button', { name: 'Sign out' }).click();
          await isClean(page, 'login');
        },
        { colorScheme },
      ));
  }

  async function sums() {
    const answer = await fetch(`${harness.url}/api/ledger`, { headers: { 'X-API-KEY': TOKEN } });
    const { result } = (await answer.json()) as {
      result: { lines?: number; stored?: number; pending_bytes?: number }[];
    };
    const sum = (of: (entry: (typeof result)[number]) => number | undefined) =>
      result.reduce((all, entry) => all + (of(entry) ?? 0), 0);
    return {
      lines: sum(({ lines }) => lines),
      stored: sum(({ stored }) => stored),
      pending: sum(({ pending_bytes }) => pending_bytes),
    };
  }
});

/** What axe looks at: all of the page or the elements of a selector, by all of its rules or by those that colors can break. */
interface Looked {
  readonly within?: string | undefined;
  readonly colorsOnly: boolean;
}

/** Those of axe's rules that are on by default and tell colors. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

/** Waits until axe finds nothing: what is being read anew is dim for as long. */
async function findsNothing(page: Page, what: string, looked: Looked): Promise<void> {
  await eventually(async () => expect(await findings(page, looked), what).to.eql([]), 10_000);
}

/** What axe finds: the rule and the first element of each. */
async function findings(page: Page, { within, colorsOnly }: Looked): Promise<string[]> {
  if (await page.evaluate('window.axe === undefined')) await page.evaluate(AXE);
  const context = within === undefined ? 'document' : JSON.stringify(within);
  const options = JSON.stringify(colorsOnly ? { runOnly: COLOR_RULES } : {});
  // It also throws where no element matches.
  return page.evaluate(
    `axe.run(${context}, ${options}).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 200)).slice(0, 3).join(' ')))`,
  );
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

function numberOf(text: string): number {
  return Number(text.replaceAll(',', ''));
}

function lines(page: Page) {
  return page.locator('.list .rows > .row > .line');
}

function severities(page: Page) {
  return page.getByRole('group', { name: 'Severities' });
}

async function severityColumn(page: Page): Promise<string[]> {
  const texts = await page.locator('.row .badge').allTextContents();
  expect(texts.length).to.be.above(10);
  return texts;
}
