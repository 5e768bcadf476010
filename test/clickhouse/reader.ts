import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { allSources } from '../../ingest/index.ts';
import { POLICY } from '../../server/clickhouse/reader.ts';
import { READER_SETTINGS, readerColumns } from '../../server/clickhouse/reader-schema.ts';
import { readConfig } from '../../server/config/config.ts';
import { membersOf } from '../../server/config/members.ts';

export const READER = 'tailpond_reader';
/** Like that one, but he may read any table. */
export const FREE_READER = 'free_reader';
/** Who may forward rows, and nothing else. */
export const FORWARDER = 'forwarder';

/**
 * The configuration of a server with the user that `tailpond clickhouse schema --reader` makes: the library of the engine keeps no users
 * that statements make, so they are in a file.
 */
export function readerConfig(folder: string): string {
  mkdirSync(folder, { recursive: true });
  const members = membersOf(readConfig({}).config);
  const tables = allSources();
  const user = (name: string, profile: string, more = '') =>
    `<${name}><password/><networks><ip>127.0.0.1</ip></networks><profile>${profile}</profile><quota>default</quota>${more}</${name}>`;
  const grants = tables.flatMap((source) =>
    [source, `${source}_all`].map(
      (table) =>
        `<query>GRANT SELECT(${readerColumns(source, members).join(', ')}) ON default.${table}</query>`,
    ),
  );
  const policies = tables.map((source) => `<${source}><filter>${xml(POLICY)}</filter></${source}>`);
  const reader = (name: string, more = '') =>
    user(
      name,
      'reader',
      `<grants>${grants.join('')}${more}</grants><databases><default>${policies.join('')}</default></databases>`,
    );
  const settings = Object.entries(READER_SETTINGS).map(
    ([name, value]) => `<${name}>${value}</${name}>`,
  );
  const path = join(folder, 'users.xml');
  writeFileSync(
    path,
    `<clickhouse>
<profiles><default/><reader>${settings.join('')}</reader></profiles>
<quotas><default/></quotas>
<users>${user('default', 'default')}${reader(READER)}${reader(FREE_READER, '<query>GRANT SELECT ON *.*</query>')}${user(FORWARDER, 'default', '<grants><query>GRANT SELECT, INSERT ON default.*</query></grants>')}</users>
</clickhouse>`,
  );
  return `<users_config>${path}</users_config>`;
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
