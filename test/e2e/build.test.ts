import { execFileSync } from 'node:child_process';
import { appendFileSync, cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../../server/config/package-root.ts';
import { withFolder, withService } from '../support/helpers.ts';
import { SLOW } from '../support/slow.ts';

const SOURCES = ['build.cjs', 'package.json', 'tsconfig.json', 'ingest', 'server', 'sql'];

describe(`a build while the service runs ${SLOW}`, () => {
  it('leaves it the parts that it has not loaded yet', () =>
    withFolder((project) =>
      withFolder(async (data) => {
        for (const name of SOURCES)
          cpSync(join(ROOT, name), join(project, name), { recursive: true });
        symlinkSync(join(ROOT, 'node_modules'), join(project, 'node_modules'));
        const build = () => execFileSync(process.execPath, ['build.cjs'], { cwd: project });
        build();
        await withService(
          data,
          async ({ get }) => {
            appendFileSync(
              join(project, 'server/openapi/document.ts'),
              "\nexport const BUILT_ANEW = 'a later version';\nconsole.log(BUILT_ANEW);\n",
            );
            build();
            // Once more without a change, as `npm start` does.
            build();
            const { status, body } = await get('/api/openapi.json');
            expect(status, JSON.stringify(body)).to.equal(200);
          },
          { launch: join(project, 'server/launch.cjs') },
        );
      }),
    ));
});
