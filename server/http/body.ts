import express, { type Request, type RequestHandler, type Response } from 'express';
import { AppError } from '../errors.ts';

/** SQL of 64 KiB, escaped as JSON or a form may escape it, and the parameters beside it. */
const MAX_BYTES = 448 * 1024;

const PARSERS: readonly RequestHandler[] = [
  express.json({ limit: MAX_BYTES }),
  express.urlencoded({ limit: MAX_BYTES, extended: false }),
];

/**
 * The parameters in a body, a form or a JSON object of texts, numbers, truth values and nulls; none without a body. Throws `REQUEST_INVALID`, and `TYPE_UNKNOWN` for a body of another type: a statement in it must not be passed over.
 */
export async function bodyOf(
  request: Request<never> | Request,
  response: Response,
): Promise<[string, string][]> {
  if (!hasBody(request)) return [];
  for (const parse of PARSERS) await parsed(parse, request as Request, response);
  if (request.body === undefined) {
    const type = JSON.stringify((request.headers['content-type'] ?? '').slice(0, 100));
    throw new AppError('TYPE_UNKNOWN', {
      detail: `Expected a body of the type application/json or application/x-www-form-urlencoded, got ${type}.`,
    });
  }
  const body: unknown = request.body ?? {};
  if (typeof body !== 'object' || Array.isArray(body) || body === null) throw unexpected();
  return Object.entries(body).flatMap(([name, value]) =>
    values(value).map((text): [string, string] => [name, text]),
  );
}

function hasBody({ headers }: Request<never> | Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** A form may name a parameter twice; which of them may come so is not known here. */
function values(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(values);
  if (value === null) return [];
  if (typeof value === 'object') throw unexpected();
  return [String(value)];
}

function unexpected(): AppError {
  return new AppError('REQUEST_INVALID', {
    detail: 'Expected a form, or a JSON object whose members are the parameters, as texts.',
  });
}

function parsed(parse: RequestHandler, request: Request, response: Response): Promise<void> {
  return new Promise((resolve, reject) => {
    parse(request, response, (error?: unknown) => (error ? reject(error) : resolve()));
  });
}
