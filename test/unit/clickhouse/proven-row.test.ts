import type { ClickHouseClient } from '@clickhouse/client';
import { expect } from 'chai';
import { provenRow, readNumber, readRow } from '../../../server/clickhouse/proven-row.ts';

describe('an answer of ClickHouse', () => {
  it('is one row that begins with the random text of the request, reversed', () => {
    const read = (text: string) => readRow(text, 'ab12', 1);
    expect(read('["21ba", "350"]\n')).to.deep.equal(['350']);
    for (const text of [
      '',
      '<html>',
      '{"status":"ok"}',
      'null',
      '["350"]\n',
      // As an echo of the request has it.
      '["ab12", "350"]\n',
      '["21ba"]\n',
      '["21ba", "350", "1"]\n',
      '["21ba", 350]\n',
      '["21ba", "350"]\n["21ba", "350"]\n',
      '["21ba", "350"]\nCode: 241. DB::Exception: Memory limit exceeded\n',
    ])
      expect(read(text), text).to.equal(null);
  });

  it('has exact numbers', () => {
    for (const [text, number] of [
      ['0', 0],
      ['122880', 122_880],
    ] as const)
      expect(readNumber(text)).to.equal(number);
    for (const text of [undefined, '', ' 1', '1 ', '+1', '-1', '01', '1e3', '0x1', '1.0', 'nan'])
      expect(readNumber(text), text).to.equal(null);
    expect(readNumber('18446744073709551615')).to.equal(null);
  });

  it('is told from others by an error with their first characters, escaped', async () => {
    const client = {
      query: async () => ({ text: async () => `\u001b[31m<html>\n\u202e${'x'.repeat(200)}` }),
    } as unknown as ClickHouseClient;
    const signal = new AbortController().signal;
    const wanted = { endpoint: 'http://a', select: ['1'], from: 'one', values: {}, signal };
    const error = await provenRow(client, wanted).catch((thrown: Error) => thrown);
    expect((error as Error).message).to.match(
      /^http:\/\/a does not answer as ClickHouse does: "\\u001b\[31m<html>\\n\\u202ex+"…$/,
    );
  });
});
