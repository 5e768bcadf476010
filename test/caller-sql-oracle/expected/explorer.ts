import type { Row } from '../dataset.ts';
import { ONE_ID } from '../events.ts';
import { datetime, grouped, ordered, shown, shownRow } from '../form.ts';
import { at, from, type Scope, text } from '../reading.ts';
import { and, that } from '../truth.ts';
import { all, among, matches } from './conditions.ts';
import { EDGE_RECORDS, edgeWithAnswer } from './joins.ts';
import { type Expectations, moment, picked, where } from './requests.ts';

/** The templates of the explorer, the examples of its documentation, and a few others. */
export const EXPLORER: Expectations = {
  'apikeys-last-used-jwt': (w) => ({
    rows: grouped(
      where(
        from(w.edge_logs, {
          m: 't.metadata',
          request: 'm.request',
          sb: 'request.sb',
          jwt: 'sb.jwt',
          apikey: 'jwt.apikey',
          payload: 'apikey.payload',
        }),
        all(
          (s) => at(s, 'apikey.invalid') === null,
          among('payload.issuer', 'supabase'),
          among('payload.algorithm', 'HS256'),
          among('payload.role', 'anon', 'service_role'),
        ),
      ),
      (s) => [at(s, 'payload.role'), at(s, 'payload.signature_prefix')],
    ).map(({ keys, items }) => ({
      timestamp: Math.floor(Math.max(...items.map(moment)) / 1000),
      role: keys[0],
      signature_prefix: keys[1],
    })),
  }),
  'docs-regex-metadata': (w) => ({
    rows: w.postgres_logs
      .filter(({ event_message }) => /is present/.test(event_message))
      .map((row) => ({
        timestamp: datetime(row.timestamp),
        event_message: row.event_message,
        metadata: shown(row.metadata),
      })),
  }),
  'docs-struct-select': (w) => ({
    rows: from(w.edge_logs, { m: 't.metadata' }).map((s) => ({
      f0_: datetime(moment(s)),
      metadata: shown(s.m ?? null),
    })),
  }),
  'docs-three-level': (w) => ({
    rows: from(w.edge_logs, {
      metadata: 't.metadata',
      request: 'metadata.request',
      header: 'request.headers',
    }).map((s) => picked(s, ['t.timestamp', 'request.method', 'header.cf_ipcountry'])),
  }),
  'old-constant': () => ({ rows: [{ world: 'hello' }] }),
  'old-plain-edge_logs': (w) => ({
    rows: w.edge_logs.map(({ timestamp, event_message, metadata }) => ({
      timestamp,
      event_message,
      metadata: shown(metadata),
    })),
  }),
  'serviceflow-edge-excerpt': (w) => ({
    rows: from(
      w.edge_logs.filter(({ id }) => id === ONE_ID),
      EDGE_RECORDS,
      {
        answerHeaders: 'response.headers',
        headers: 'request.headers',
        cf: 'request.cf',
        sb: 'request.sb',
        jwt: 'sb.jwt',
        apikey: 'jwt.apikey',
        apikeyPayload: 'apikey.payload',
        authorization: 'jwt.authorization',
        authorizationPayload: 'authorization.payload',
        outer: 'sb.apikey',
        inner: 'outer.apikey',
      },
    ).map((s) => ({
      ...picked(s, ['t.id', 't.timestamp']),
      log_type: 'postgrest',
      status: text(at(s, 'response.status_code')),
      ...picked(s, [
        'request.path as request_path',
        'response.origin_time as response_origin_time',
        'answerHeaders.content_type as response_content_type',
        'cf.country as client_country',
        'headers.user_agent as headers_user_agent',
        'authorizationPayload.role as api_role',
        'sb.auth_user',
      ]),
      jwt_key_role: keyRole(s),
      raw_log_data: shownRow(s.t as unknown as Row),
    })),
  }),
  'template-auth-endpoint-events': (w) => ({
    rows: where(from(w.auth_logs), matches('t.event_message', /level.{3}/)).map((s) =>
      picked(s, ['t.timestamp', 't.event_message']),
    ),
    limit: 100,
  }),
  'template-metadata-ip': (w) => ({
    rows: from(w.edge_logs, {}, { m: 't.metadata', r: 'm.request', h: 'r.headers' })
      .filter((s) => at(s, 'h.x_real_ip') !== null)
      .map((s) => ({ timestamp: datetime(moment(s)), x_real_ip: at(s, 'h.x_real_ip') })),
  }),
  'template-storage-egress-requests': (w) => ({
    rows: ordered(
      grouped(
        where(
          edgeWithAnswer(w),
          all(
            matches('request.path', /storage\/v1\/(object|render)\//),
            among('request.method', 'GET'),
          ),
        ),
        (s) => [
          at(s, 'request.method'),
          at(s, 'request.path'),
          that(text(at(s, 'h.cf_cache_status')), (status) => status === 'HIT'),
        ],
      ).map(({ keys, items }) => ({
        http_verb: keys[0],
        filepath: keys[1],
        cached: keys[2],
        num_requests: items.length,
      })),
      '-num_requests',
    ),
    by: (row) => row.num_requests,
    limit: 100,
  }),
  'template-storage-top-cache-misses': (w) => ({
    rows: ordered(
      grouped(
        where(
          edgeWithAnswer(w),
          all(
            matches('request.path', /^\/storage\/v1\/object/),
            among('request.method', 'GET'),
            among('h.cf_cache_status', 'MISS', 'NONE/UNKNOWN', 'EXPIRED', 'BYPASS', 'DYNAMIC'),
          ),
        ),
        (s) => [at(s, 'request.path'), at(s, 'request.search')],
      ).map(({ keys, items }) => ({ path: keys[0], search: keys[1], count: items.length })),
      '-count',
    ),
    by: (row) => row.count,
    limit: 100,
  }),
};

function keyRole(scope: Scope): string | null {
  const recognised = and(
    among('apikeyPayload.algorithm', 'HS256')(scope),
    among('apikeyPayload.issuer', 'supabase')(scope),
    among('apikeyPayload.role', 'anon', 'service_role')(scope),
  );
  if (recognised === true) return text(at(scope, 'apikeyPayload.role'));
  return scope.apikeyPayload === null ? null : '<unrecognized>';
}
