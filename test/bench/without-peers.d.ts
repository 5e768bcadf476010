// Stands for the types of the peers in `npm run check`, which does not install them: as much of them as the code here uses.
// `npm run bench` leaves this file out and checks against their own types.
declare module 'chdb';
declare module 'pg-copy-streams';
declare module 'vega';

declare module 'vega-lite' {
  export type TopLevelSpec = object;
  export function compile(spec: TopLevelSpec): { readonly spec: object };
}

declare module 'autocannon' {
  export interface Request {
    readonly headers?: Readonly<Record<string, string>>;
  }
  export default function autocannon(options: object): Promise<{
    readonly errors: number;
    readonly non2xx: number;
    readonly requests: { readonly average: number };
  }>;
}

declare module 'pg' {
  export class Client {
    constructor(options: object);
    connect(): Promise<void>;
    end(): Promise<void>;
    query<T extends import('node:stream').Writable>(stream: T): T;
    query(
      sql: string,
      values?: readonly unknown[],
    ): Promise<{ readonly rows: Record<string, unknown>[] }>;
  }
}
