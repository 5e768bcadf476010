import type { Dataset } from '../dataset.ts';
import { from, type Joins, type Scope } from '../reading.ts';

type Joined = (dataset: Dataset) => Scope[];

export const EDGE_RECORDS: Joins = {
  m: 't.metadata',
  request: 'm.request',
  response: 'm.response',
};

export const edge: Joined = (dataset) => from(dataset.edge_logs, EDGE_RECORDS);

export const edgeWithHeaders: Joined = (dataset) =>
  from(dataset.edge_logs, { ...EDGE_RECORDS, headers: 'request.headers' });

export const edgeWithAnswer: Joined = (dataset) =>
  from(dataset.edge_logs, { ...EDGE_RECORDS, h: 'response.headers' });

export const postgres: Joined = (dataset) =>
  from(dataset.postgres_logs, { m: 't.metadata', parsed: 'm.parsed' });

export const auth: Joined = (dataset) => from(dataset.auth_logs, { metadata: 't.metadata' });

export const functions: Joined = (dataset) =>
  from(dataset.function_logs, { metadata: 't.metadata' });

export const relay: Joined = (dataset) =>
  from(dataset.function_edge_logs, {
    m: 't.metadata',
    request: 'm.request',
    response: 'm.response',
    h: 'response.headers',
  });
