import type { Engine } from '../engine.ts';
import { typeName } from '../plain-values.ts';

const SELECT = 1;

export interface Described {
  readonly parameters: string[];
  readonly columns: string[];
  readonly types: string[];
  readonly select: boolean;
}

/**
 * What a statement takes and gives, without running it, on a connection of its own, so that it need not wait for queries.
 * Throws what is wrong with it, or the reason of `stopping`.
 */
export async function describe(
  engine: Engine,
  stopping: AbortSignal,
  sql: string,
): Promise<Described> {
  stopping.throwIfAborted();
  const connection = await engine.connect();
  try {
    const statement = await connection.prepare(sql);
    const parameters = Array.from({ length: statement.parameterCount }, (_, i) =>
      statement.parameterName(i + 1),
    );
    const columns = Array.from({ length: statement.columnCount }, (_, i) =>
      statement.columnName(i),
    );
    const types = Array.from({ length: statement.columnCount }, (_, i) =>
      typeName(statement.columnType(i)),
    );
    const select = statement.statementType === SELECT;
    statement.destroySync();
    return { parameters, columns, types, select };
  } finally {
    connection.closeSync();
  }
}
