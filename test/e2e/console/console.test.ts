import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import supertest from 'supertest';
import { allSources } from '../../../ingest/index.ts';
import { ROOT } from '../../../server/config/package-root.ts';
import { eventually, TOKEN } from '../../support/helpers.ts';
import { SLOW } from '../../support/slow.ts';
import { INSTALL } from '../shippers/shippers.ts';
import { CHROMIUM, type Harness, openStage } from './harness.ts';

const MINUTE_MS = 60_000;
/** What a page may have against a refused request, beside what it shows. */
const REFUSED = /^Failed to load resource: the server responded with a status of 4\d\d/;

describe('the console in a browser', () => {
  let harness: Harness;
  const begun = Date.now();

  before(async function () {
    this.timeout(300_000);
    if (!existsSync(CHROMIUM)) {
      console.log(`    skipped: ${CHROMIUM} missing; ${INSTALL}`);
      this.skip();
    }
    harness = await openStage();
    // One a minute; the even ones of one project, the odd ones of another.
    await harness.write(
      'edge_logs',
      Array.from({ length: 50 }, (_, i) =>
        JSON.stringify({
          timestamp: new Date(begun - (i + 1) * MINUTE_MS).toISOString(),
          project: i % 2 === 0 ? 'alpha' : 'beta',
          event_message: `request ${i}`,
          metadata: {
            request: { method: 'GET', path: `/rest/v1/things/${i}`, tags: ['a', null] },
            response: { status_code: i === 7 ? 500 : 200 },
          },
        }),
      ),
    );
  });

  after(() => harness?.close());

  afterEach(() => {
    expect(harness?.faults.splice(0) ?? []).to.eql([]);
  });

  it('asks for the token once, tells of a wrong one, and keeps it in the tab alone', () =>
    harness.visit(
      '/',
      async (page) => {
        const field = page.getByLabel('Access token');
        await field.fill('not-the-token');
        await field.press('Enter');
        await page.getByRole('alert').getByText(/token/).waitFor();
        expect(harness.faults.splice(0).filter((fault) => !REFUSED.test(fault))).to.eql([]);

        await field.fill(TOKEN);
        await field.press('Enter');
        await listed(page, 50);
        await page.reload();
        await listed(page, 50);
        expect(page.url()).not.to.include(TOKEN);
        expect(await page.evaluate('JSON.stringify(localStorage) + document.cookie')).to.equal(
          '{}',
        );

        const other = await page.context().newPage();
        await other.goto(harness.url);
        await other.getByLabel('Access token').waitFor();
      },
      { token: null },
    ));

  it(`asks anew when the token is no longer taken ${SLOW}`, () =>
    harness.visit(
      '/',
      async (page) => {
        await page.getByLabel('Access token').waitFor();
        await page.getByRole('alert').getByText(/token/).waitFor();
        expect(harness.faults.splice(0).filter((fault) => !REFUSED.test(fault))).to.eql([]);
      },
      { token: 'revoked' },
    ));

  it('lists entries by project and text, and has all of it in the address', () =>
    harness.visit('/#/logs?source=edge_logs&last=3h', async (page) => {
      await listed(page, 50);
      await page.getByText('50 entries in this range').waitFor();
      await page.getByLabel('Project').fill('beta');
      await page.getByLabel('Project').press('Enter');
      await listed(page, 25);
      await page.getByLabel('Search', { exact: true }).fill('THINGS/7');
      await listed(page, 1);
      await page.getByText('1 entry in this range').waitFor();
      expect(await rows(page).textContent())
        .to.include('500')
        .and.to.include('request 7');
      expect(page.url()).to.match(/#\/logs\?.*project=beta&q=THINGS%2F7/);

      await page.reload();
      await listed(page, 1);
      await page.goBack();
      await listed(page, 50);
    }));

  it('opens a row into its metadata as a tree, whose values are added to the search', () =>
    harness.visit('/#/logs?source=edge_logs&last=3h&search=request+12', async (page) => {
      // A link to an earlier version, which had a text.
      await listed(page, 1);
      await rows(page).first().click();
      const tree = page.locator('.tree');
      await tree.getByText('"/rest/v1/things/12"').waitFor();
      await tree.getByText('request', { exact: true }).click();
      await tree.getByText('"/rest/v1/things/12"').waitFor({ state: 'detached' });
      await tree.getByText('request', { exact: true }).click();
      await tree.getByRole('button', { name: 'Only request.path:/rest/v1/things/12' }).click();
      const search = page.getByLabel('Search', { exact: true });
      const query = '*request\\ 12* request.path:/rest/v1/things/12';
      await eventually(async () => expect(await search.inputValue()).to.equal(query));
      await listed(page, 1);
      await tree.getByRole('button', { name: 'Not request.path:/rest/v1/things/12' }).click();
      await page.getByText('0 entries in this range').waitFor();
      await search.fill('status:>=500');
      await page.getByRole('button', { name: /^error/ }).waitFor();
      await listed(page, 1);
      await search.fill('a OR');
      await page.getByText('at character 5').first().waitFor();
      expect(harness.faults.splice(0).filter((fault) => !REFUSED.test(fault))).to.eql([]);
    }));

  it('shows severities, and lists those that are chosen', () =>
    harness.visit('/#/logs?source=edge_logs&last=3h', async (page) => {
      await listed(page, 50);
      const chip = page
        .getByRole('group', { name: 'Severities' })
        .getByRole('button', { name: /^error/ });
      await eventually(async () => expect(await chip.textContent()).to.match(/^error \d+$/));
      const [, errors = ''] = /(\d+)/.exec((await chip.textContent()) ?? '') ?? [];
      await chip.click();
      await listed(page, Number(errors));
      expect(await chip.getAttribute('aria-pressed')).to.equal('true');
      expect(page.url()).to.include('level=error');
      await page.reload();
      await listed(page, Number(errors));
      await chip.click();
      await listed(page, 50);
    }));

  it(`narrows the range to what is brushed in the histogram ${SLOW}`, () =>
    harness.visit('/#/logs?source=edge_logs&last=1h', async (page) => {
      await page.getByText('50 entries in this range').waitFor();
      const plot = await page.locator('.u-over').boundingBox();
      if (!plot) throw new Error('the histogram is not there');
      await page.mouse.move(plot.x + plot.width / 2, plot.y + 20);
      await page.mouse.down();
      await page.mouse.move(plot.x + plot.width, plot.y + 30, { steps: 4 });
      await page.mouse.up();
      await eventually(() => expect(page.url()).to.match(/from=.*&to=/));
      const range = new URLSearchParams(page.url().split('?')[1]);
      const [from, to] = ['from', 'to'].map((name) => Date.parse(range.get(name) ?? ''));
      expect((to ?? 0) - (from ?? 0)).to.be.closeTo(30 * MINUTE_MS, 2 * MINUTE_MS);
      const inside = Array.from({ length: 50 }, (_, i) => begun - (i + 1) * MINUTE_MS);
      await listed(page, inside.filter((at) => at >= (from ?? 0) && at < (to ?? 0)).length);
      await page.goBack();
      await listed(page, 50);
    }));

  it('keeps what is typed as a range while entries come', () =>
    harness.visit('/#/logs?source=edge_logs&last=1h', async (page) => {
      await page.getByText('50 entries in this range').waitFor();
      let answer = () => {};
      const asked = new Promise<void>((resolve) => {
        answer = resolve;
      });
      await page.route(/\/api\/(?:entries|histogram)\//, async (route) => {
        await asked;
        await route.continue();
      });
      await page.keyboard.press('r');
      await page.locator('.ranges summary').click();
      const from = page.getByLabel('From', { exact: true });
      await from.fill('2020-01-01T00:00:01');
      const answered = page.waitForResponse(/\/api\/histogram\//);
      answer();
      await answered;
      await page.getByText('50 entries in this range').waitFor();
      expect(await from.inputValue()).to.equal('2020-01-01T00:00:01');
    }));

  it(`takes a range of one’s own, and leads to the newest entry from an empty one ${SLOW}`, () =>
    harness.visit('/#/logs?source=edge_logs&last=5m', async (page) => {
      await page.locator('.ranges summary').click();
      await page.getByLabel('From', { exact: true }).fill('2020-01-01T00:00:00');
      await page.getByLabel('To', { exact: true }).fill('2020-01-02T00:00:00');
      await page.getByRole('button', { name: 'Show this range' }).click();
      await page.getByText('No entries of edge_logs in this range').waitFor();
      expect(page.url()).to.include('from=2020-01-01T00%3A00%3A00.000Z');
      await page
        .locator('.empty')
        .getByText(/newest stored .* ago · ingest lag/)
        .waitFor();
      await page.getByRole('button', { name: 'Go to the newest' }).click();
      await page.getByText('request 0').waitFor();
    }));

  it(`follows what arrives, and holds still while one reads ${SLOW}`, () =>
    harness.visit('/#/logs?source=edge_logs&last=1h', async (page) => {
      await listed(page, 50);
      await page.keyboard.press('l');
      await page.locator('.live').getByText('Live').waitFor();
      await append('arrives at the top');
      await rows(page).first().getByText('arrives at the top').waitFor();

      await page.evaluate("document.querySelector('.list').scrollTo(0, 300)");
      await page.getByText('Paused').waitFor();
      const shown = await page.locator('.shown').textContent();
      await append('arrives meanwhile');
      const show = page.getByRole('button', { name: 'Show 1 new' });
      await show.waitFor();
      expect(await page.locator('.shown').textContent()).to.equal(shown);
      await show.click();
      await rows(page).first().getByText('arrives meanwhile').waitFor();
      await page.getByRole('button', { name: 'Live' }).click();
      await page.locator('.live').waitFor({ state: 'detached' });
      // What came by the tail is there without it, too.
      await page.locator('.list:not(.old)').waitFor();
      await rows(page).first().getByText('arrives meanwhile').waitFor();
    }));

  it(`lists older entries as one scrolls, none twice and none left out, and draws few ${SLOW}`, async () => {
    // Seven at a time have one timestamp, also where the first page ends.
    const at = (i: number) => new Date(begun - Math.floor(i / 7) * 1000).toISOString();
    const lines = Array.from({ length: 455 }, (_, i) =>
      JSON.stringify({ timestamp: at(i), event_message: `statement ${i}` }),
    );
    await harness.write('postgres_logs', lines);
    await harness.visit('/#/logs?source=postgres_logs&last=1h', async (page) => {
      await page.getByText('455 entries in this range').waitFor();
      await listed(page, 200);
      const seen = new Set<string>();
      await eventually(async () => {
        for (const text of await page.locator('.row .message').allTextContents()) seen.add(text);
        // Only what is seen is drawn.
        expect(await rows(page).count()).to.be.below(80);
        await page.mouse.move(600, 600);
        await page.mouse.wheel(0, 300);
        expect(seen.size).to.equal(455);
      }, 30_000);
      await listed(page, 455);
      await page.getByRole('button', { name: 'Older entries' }).waitFor({ state: 'detached' });
    });
  });

  it(`shows what came around an entry, also where thousands came in a second ${SLOW}`, async () => {
    const second = `${new Date(begun - 30 * MINUTE_MS).toISOString().slice(0, 19)}.`;
    const lines = Array.from({ length: 9000 }, (_, i) =>
      JSON.stringify({
        timestamp: `${second}${String(i * 100).padStart(6, '0')}Z`,
        event_message: `busy ${i}`,
        metadata: { 'k"q': 1, 0: 'zero', big: 0, lines: 'x\ny' },
      }).replace('"big":0', '"big":9007199254740993'),
    );
    await harness.write('pgbouncer_logs', lines);
    await harness.visit('/#/logs?source=pgbouncer_logs&last=1h&q=4000', async (page) => {
      await listed(page, 1);
      await rows(page).first().click();
      const tree = page.locator('.tree');
      await tree.getByText('k"q').hover();
      // A number keeps all its digits.
      const offered = await tree
        .getByRole('button')
        .evaluateAll((buttons) =>
          buttons
            .map((button) => button.getAttribute('aria-label'))
            .filter((label) => label?.startsWith('Only')),
        );
      expect(offered).to.have.members([
        'Only "0":zero',
        'Only "k\\"q":1',
        'Only big:9007199254740993',
        'Only lines:"x\ny"',
      ]);
      for (const label of offered) {
        await tree.getByRole('button', { name: label ?? '', exact: true }).click();
        await page.getByText('1 entry in this range').waitFor();
      }
      await page.getByRole('button', { name: 'Around this entry' }).click();
      const marked = page.locator('.row.marked');
      await marked.getByText('busy 4000').waitFor();
      await marked.locator('.line').waitFor();
      await eventually(async () => {
        const shown = await page.locator('.row .message').allTextContents();
        const around = shown.map((text) => Number(/^busy (\d+)/.exec(text)?.[1]));
        expect(around).to.include(3995).and.to.include(4005);
      });
      await marked.locator('.line').waitFor();
    });
  });

  it(`shows what hostile lines hold as text ${SLOW}`, async () => {
    const hostile = '<img src=x onerror=alert(1)></script><script>alert(2)</script>';
    await harness.write('auth_logs', [
      JSON.stringify({
        timestamp: new Date().toISOString(),
        project: hostile,
        event_message: `${hostile}\u202e\u0000 {{constructor}}`,
        metadata: {
          level: hostile,
          [hostile]: [hostile],
          ['__proto__']: hostile,
          url: 'javascript:alert(3)',
        },
      }),
      `${hostile} is not JSON`,
    ]);
    await harness.visit('/#/logs?source=auth_logs&last=1h', async (page) => {
      await rows(page).first().click();
      await page.locator('.tree').getByText(hostile, { exact: true }).waitFor();
      expect(await page.locator('main img, main script, main a').count()).to.equal(0);
      await page.goto(`${harness.url}/#/ledger?source=${encodeURIComponent(hostile)}`);
      await page.reload();
      await page.getByText(`${hostile} is not JSON`).click();
      expect(await page.getByLabel('The line').inputValue()).to.equal(`${hostile} is not JSON`);
      expect(await page.locator('main img, main script').count()).to.equal(0);
      await page.goto(`${harness.url}/#/logs?search=${encodeURIComponent(hostile)}&project=<b>`);
      await page.reload();
      await page.getByText('No entries of edge_logs').waitFor();
      expect(await page.locator('main img, main script, main b').count()).to.equal(0);
    });
  });

  it(`has a rejected line edited and tried again: it leaves the list and becomes an entry ${SLOW}`, async () => {
    const broken = `{"timestamp":"${new Date().toISOString()}","event_message":"mended"`;
    await harness.write('storage_logs', [broken, 'never a line']);
    await harness.visit('/#/ledger?source=storage_logs', async (page) => {
      const lines = page.locator('.rejected .row');
      await eventually(async () => expect(await lines.count()).to.equal(2));
      // What comes above the lines moves them, and a click may miss.
      await page.getByText('To be removed next').waitFor();
      await page.locator('.ledger table tbody tr').first().waitFor();
      await lines.filter({ hasText: 'mended' }).locator('.line').click();
      await page.getByText(/This is not JSON/).waitFor();
      await page.getByLabel('The line').fill(`${broken},\n  "project":"p"\n}`);
      await page.getByText('This is a JSON object.').waitFor();
      await page.getByRole('button', { name: 'Retry the edited line' }).click();
      await eventually(async () => expect(await lines.count()).to.equal(1));
      await harness.stored('storage_logs', 1);
      await page.goto(`${harness.url}/#/logs?source=storage_logs&last=1h`);
      await page.reload();
      await rows(page).getByText('mended').waitFor();
    });
  });

  it(`shows the ledger of all sources ${SLOW}`, () =>
    harness.visit('/#/ledger', async (page) => {
      const table = page.locator('.ledger table tbody tr');
      await eventually(async () => expect(await table.count()).to.equal(allSources().length));
      expect(await table.first().textContent()).to.match(/^edge_logs/);
    }));

  it(`draws the requests to the API, and shows what the service has against a parameter ${SLOW}`, () =>
    harness.visit('/#/usage?project=*&interval=1hr', async (page) => {
      await page
        .locator('.legend .rest b')
        .getByText(/^[45]\d$/)
        .waitFor();
      await page.locator('table tbody tr').first().waitFor();
      await page.getByLabel('Project').fill('(');
      await page
        .getByRole('alert')
        .getByText(/project/)
        .waitFor();
      expect(harness.faults.splice(0).filter((fault) => !REFUSED.test(fault))).to.eql([]);
    }));

  it(`exports what is chosen, and copies the request without the token ${SLOW}`, () =>
    harness.visit('/#/logs?source=edge_logs&last=3h&project=beta', async (page) => {
      await listed(page, 25);
      await page.locator('.share summary').click();
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Export edge_logs as NDJSON' }).click(),
      ]);
      expect(file.suggestedFilename()).to.equal('edge_logs.ndjson');
      const lines = readFileSync(await file.path(), 'utf8')
        .trim()
        .split('\n');
      expect(lines.pop()).to.equal('{"count":25}');
      expect(lines.map((line) => JSON.parse(line).project)).to.eql(Array(25).fill('beta'));

      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await page.locator('.share summary').click();
      await page.getByRole('button', { name: 'Copy curl', exact: true }).click();
      await page.getByText('curl command copied.').waitFor();
      const command = String(await page.evaluate('navigator.clipboard.readText()'));
      expect(command).to.match(
        /^curl -sS -H "X-API-KEY: \$TAILPOND_TOKEN" 'http:\/\/127\.0\.0\.1:\d+\/api\/entries\/edge_logs\?\S+'$/,
      );
      expect(command).to.include('project=beta').and.not.to.include(TOKEN);
    }));

  it(`is used by keys alone ${SLOW}`, () =>
    harness.visit('/#/logs?source=edge_logs&last=3h&project=alpha', async (page) => {
      await listed(page, 25);
      await page.keyboard.press('?');
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });

      await page.keyboard.press('j');
      await page.keyboard.press('j');
      await page.keyboard.press('j');
      await page.keyboard.press('k');
      expect(await focused(page)).to.include('request 2');
      await page.keyboard.press('Enter');
      await page.locator('.tree').waitFor();
      expect(await rows(page).nth(1).getAttribute('aria-expanded')).to.equal('true');
      await page.keyboard.press('Escape');
      await page.locator('.tree').waitFor({ state: 'detached' });

      await page.keyboard.press('/');
      await page.keyboard.type('request 14');
      await listed(page, 1);
      await page.keyboard.press('Escape');
      await page.keyboard.press('4');
      await page.getByRole('heading', { name: 'Ingest' }).waitFor();
    }));

  it(`fits a phone: no page scrolls sideways ${SLOW}`, async () => {
    await harness.write('realtime_logs', ['a line that is too wide for a phone '.repeat(20)]);
    await harness.visit(
      '/#/logs?source=edge_logs&last=3h&project=alpha',
      async (page) => {
        const check = async () => {
          expect(await page.evaluate('document.documentElement.scrollWidth')).to.equal(360);
          expect(await page.evaluate("document.querySelector('main').scrollWidth")).to.equal(360);
        };
        await rows(page).first().click();
        await page.locator('.tree').waitFor();
        await check();
        await page.getByRole('button', { name: 'Filters' }).click();
        await page.locator('.ranges summary').click();
        await check();
        await page.keyboard.press('Escape');
        await page.getByRole('button', { name: 'Fields' }).click();
        await page.locator('.facets').waitFor();
        await check();
        await page.getByRole('link', { name: 'SQL' }).click();
        await page.locator('.result').waitFor();
        await check();
        await page.getByRole('link', { name: 'API usage' }).click();
        await page.locator('table').waitFor();
        await check();
        await page.getByRole('link', { name: 'Ingest' }).click();
        await page.locator('.rejected .row').first().waitFor();
        await page.locator('.rejected .line').first().click();
        await check();
      },
      { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true },
    );
  });

  it('shows the SQL of a link and waits for Run; what this tab has run runs again', () => {
    const linked = (id: string) =>
      `#/sql?sql=select+%27${id}%27+as+mark+from+edge_logs+limit+1&last=24h`;
    return harness.visit(`/${linked('from_afar')}`, async (page) => {
      const waits = page.getByText('has not run');
      const result = (id: string) => page.locator('.result').getByText(id, { exact: true });
      const asked = async () => {
        const names = await page.evaluate<string[]>(
          "performance.getEntriesByType('resource').map((entry) => entry.name)",
        );
        // What else the page asks for shows that it has begun to ask.
        expect(names.some((name) => name.includes('/api/projects'))).to.equal(true);
        return names.filter((name) => name.includes('/query/logs.all')).length;
      };
      await waits.waitFor();
      expect(await page.getByLabel('SQL', { exact: true }).inputValue()).to.include('from_afar');
      await eventually(async () => expect(await asked()).to.equal(0));
      await page.keyboard.press('r');
      await page.reload();
      await waits.waitFor();
      await eventually(async () => expect(await asked()).to.equal(0));
      await page.getByRole('button', { name: 'Run' }).click();
      await result('from_afar').waitFor();
      expect(await waits.count()).to.equal(0);
      await page.reload();
      await result('from_afar').waitFor();
      await page.evaluate(`location.hash = ${JSON.stringify(linked('another'))}`);
      await waits.waitFor();
      expect(await page.locator('.result').count()).to.equal(0);
      await page.goBack();
      await result('from_afar').waitFor();
      await page.getByRole('link', { name: 'Ingest' }).click();
      await page.getByRole('link', { name: 'SQL' }).click();
      await result('from_afar').waitFor();
    });
  });

  it(`is dark or light as the system is, or as it is told ${SLOW}`, () =>
    harness.visit(
      '/',
      async (page) => {
        const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
        const dark = await ground();
        await page.getByRole('button', { name: /Theme/ }).click();
        expect(await ground()).to.equal(dark);
        await page.getByRole('button', { name: /Theme/ }).click();
        expect(await ground()).not.to.equal(dark);
        await page.reload();
        expect(await ground()).not.to.equal(dark);
      },
      { colorScheme: 'dark' },
    ));

  it(`has all paths of the service to read at /docs, with the token of the tab ${SLOW}`, () =>
    harness.visit('/docs', async (page) => {
      await page.waitForSelector('body[data-ready]');
      await page.getByText('/api/export/{source}').waitFor();
      await page.getByText('/api/endpoints/query/usage.api-counts').first().waitFor();
    }));

  it('is small, is asked for anew each time, and lets nothing in from elsewhere', async () => {
    expect(statSync(join(ROOT, 'dist/console/console.js')).size).to.be.below(180_000);
    const http = supertest(harness.url);
    const page = await http.get('/');
    expect(page.headers['content-security-policy']).to.equal(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(page.headers['cache-control']).to.equal('no-cache');
    expect(page.text).not.to.match(/<style|style=|<script>| on\w+=/);
    expect((await http.get('/').set('If-None-Match', page.headers.etag ?? '')).status).to.equal(
      304,
    );
    expect((await http.post('/')).status).to.equal(404);
    await harness.visit('/#/logs?source=edge_logs&last=3h', async (page) => {
      await page.getByText('request 0').waitFor();
      const paint = await page.evaluate(
        "performance.getEntriesByName('first-contentful-paint')[0].startTime",
      );
      console.log(`      first paint after ${Math.round(Number(paint))} ms`);
    });
  });

  const append = (message: string) =>
    harness.write('edge_logs', [
      JSON.stringify({
        timestamp: new Date().toISOString(),
        project: 'gamma',
        event_message: message,
      }),
    ]);
});

function rows(page: Page) {
  return page.locator('.rows > .row > .line');
}

async function listed(page: Page, count: number) {
  const expected = new RegExp(`^${count} entr(?:y|ies) shown`);
  const shown = page.locator('.shown');
  await eventually(
    async () => expect(String(await shown.textContent()).trim()).to.match(expected),
    10_000,
  );
}

async function focused(page: Page): Promise<string> {
  return String(await page.evaluate('document.activeElement.textContent'));
}
