import { join } from 'node:path';
import { ROOT } from '../../../server/config/package-root.ts';
import { eventually, TOKEN } from '../../support/helpers.ts';
import { openStage } from './harness.ts';

/** Takes the README's picture of the console, of the demo: `npm run screenshot`. */
const PICTURE = join(ROOT, 'docs/img/console.png');
/** The outage is the end of the range, so that it is seen in the histogram and in the list. */
const [BEFORE_MS, UNTIL_MS] = [20 * 3_600_000, 160 * 60_000];
const MINUTE_MS = 60_000;
const range = [BEFORE_MS, UNTIL_MS].map((ms) =>
  new Date(Math.floor((Date.now() - ms) / MINUTE_MS) * MINUTE_MS).toISOString(),
);
const SHOWN = `/#/logs?source=*&from=${range[0]}&to=${range[1]}&columns=path`;

const stage = await openStage(['demo']);
try {
  await eventually(async () => {
    const answer = await fetch(`${stage.url}/api/ledger`, { headers: { 'X-API-KEY': TOKEN } });
    const { result } = (await answer.json()) as { result: { pending_bytes?: number }[] };
    if (result.some(({ pending_bytes }) => pending_bytes))
      throw new Error('lines are not read yet');
  });
  await stage.visit(
    SHOWN,
    async (page) => {
      await page.getByRole('button', { name: 'Fields' }).click();
      await page.locator('.facets .values').nth(1).waitFor();
      const row = page
        .locator('.row > .line')
        .filter({ hasText: '503' })
        .filter({ hasText: 'edge_logs' })
        .first();
      await row.click();
      await page.locator('.tree').getByText('x_request_id').hover();
      await page.screenshot({ path: PICTURE });
    },
    { viewport: { width: 1280, height: 800 }, colorScheme: 'light' },
  );
  for (const fault of stage.faults) console.error(fault);
} finally {
  await stage.close();
}
