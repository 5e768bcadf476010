import { AppError } from '../errors.ts';

/** A signal that comes when the client has gone: then it need not be answered. */
export function disconnected(response: {
  once(event: 'close', listener: () => void): unknown;
}): AbortSignal {
  const controller = new AbortController();
  response.once('close', () =>
    controller.abort(new AppError('REQUEST_INVALID', { detail: 'The client has gone.' })),
  );
  return controller.signal;
}
