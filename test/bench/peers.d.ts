// What the benchmark uses of its own packages, so that the types hold where test/bench/node_modules is not installed.
declare module 'chdb' {
  export class Session {
    constructor(path: string);
    query(sql: string, format?: string): string;
    queryBind(sql: string, values: object, format?: string): string;
    close(): void;
  }
}

declare module 'pg' {
  export class Client {
    constructor(options: { host: string; user: string; database: string });
    connect(): Promise<void>;
    query<S extends NodeJS.WritableStream>(stream: S): S;
    query(sql: string, values?: readonly unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
    end(): Promise<void>;
  }
}

declare module 'pg-copy-streams' {
  import type { Writable } from 'node:stream';
  export function from(sql: string): Writable;
}

declare module 'autocannon' {
  export interface Request {
    headers: Record<string, string>;
  }
  interface Options {
    url: string;
    connections: number;
    duration: number;
    headers?: Record<string, string>;
    requests?: { path?: string; setupRequest?: (request: Request) => Request }[];
  }
  interface Result {
    requests: { average: number };
    non2xx: number;
    errors: number;
  }
  export default function autocannon(options: Options): Promise<Result>;
}

declare module 'vega' {
  export class View {
    constructor(runtime: object, options: { renderer: 'none' });
    toSVG(): Promise<string>;
  }
  export function parse(spec: object): object;
}

declare module 'vega-lite' {
  export function compile(spec: object): { spec: object };
}
