import { from, type Joins, type Scope } from '../reading.ts';
import type { World } from '../world.ts';

type Joined = (world: World) => Scope[];

export const EDGE_RECORDS: Joins = {
  m: 't.metadata',
  request: 'm.request',
  response: 'm.response',
};

export const edge: Joined = (world) => from(world.edge_logs, EDGE_RECORDS);

export const edgeWithHeaders: Joined = (world) =>
  from(world.edge_logs, { ...EDGE_RECORDS, headers: 'request.headers' });

export const edgeWithAnswer: Joined = (world) =>
  from(world.edge_logs, { ...EDGE_RECORDS, h: 'response.headers' });

export const postgres: Joined = (world) =>
  from(world.postgres_logs, { m: 't.metadata', parsed: 'm.parsed' });

export const auth: Joined = (world) => from(world.auth_logs, { metadata: 't.metadata' });

export const functions: Joined = (world) => from(world.function_logs, { metadata: 't.metadata' });

export const relay: Joined = (world) =>
  from(world.function_edge_logs, {
    m: 't.metadata',
    request: 'm.request',
    response: 'm.response',
    h: 'response.headers',
  });
