import type { RequestHandler } from 'express';
import { allSources, type Ingest } from '../../ingest/index.ts';
import { redaction } from '../auth/redaction-header.ts';
import { searchOf } from '../endpoints/parameters.ts';
import { redact } from '../formats/redact.ts';
import { encode } from '../formats/value.ts';
import { optional, POST, READ, type Route } from '../http/route.ts';
import { previewRetention } from '../retention-job.ts';
import type { Limits, Plain, Store } from '../store/index.ts';
import { healthRoutes, type Parts } from './health.ts';
import { ledger } from './ledger.ts';
import { rejectedBytes, rejectedLines } from './rejected.ts';
import { type RetryDeps, retry } from './retry-rejected.ts';

export interface AdminDeps extends RetryDeps {
  readonly store: Pick<
    Store,
    'ledger' | 'probe' | 'rejected' | 'rejectedLine' | 'removeRejected' | 'retention'
  >;
  readonly limits: Limits;
  readonly ingest: Pick<Ingest, 'status'>;
  readonly forwarder: Parts['forwarder'];
}

/** What an operator asks: the ledger, the rejected lines, what is due, and whether all is well. */
export function adminRoutes({ store, limits, ingest, pushFiles, forwarder }: AdminDeps): Route[] {
  return [
    {
      path: '/api/ledger',
      methods: READ,
      scope: 'admin',
      summary: 'What is known of the lines of each source',
      answer: 'Ledger',
      handler: answerList(() => ledger(store, ingest)),
    },
    {
      path: '/api/rejected',
      methods: READ,
      scope: 'admin',
      summary: 'The latest rejected lines',
      parameters: [
        optional('source', allSources(), 'only of this source'),
        optional('limit', 'integer', 'how many, 1 to 1000', '100'),
      ],
      answer: 'RejectedLines',
      handler: answerList((search) => rejectedLines(store, search)),
    },
    {
      path: '/api/rejected/retry',
      methods: POST,
      scope: 'admin',
      summary: 'Sends a rejected line in again',
      body: 'Retry',
      answer: 'Retried',
      handler: retry({ store, pushFiles }),
    },
    {
      path: '/api/rejected/:id',
      methods: READ,
      scope: 'admin',
      summary: 'All that was kept of a rejected line, byte by byte',
      answer: 'application/octet-stream',
      handler: rejectedBytes(store),
    },
    {
      path: '/api/retention',
      methods: READ,
      scope: 'admin',
      summary: 'What retention would remove now',
      answer: 'Removals',
      handler: answerList(() => previewRetention(store.retention, limits)),
    },
    ...healthRoutes({ store, ingest, forwarder }),
  ];
}

function answerList(read: (search: URLSearchParams) => Plain[] | Promise<Plain[]>): RequestHandler {
  return async function answer(request, response) {
    const result = await read(searchOf(request.url));
    response
      .set('Cache-Control', 'private, no-cache')
      .type('json')
      .send(`{"result":${encode(result, redaction(request) ? redact : undefined)}}`);
  };
}
