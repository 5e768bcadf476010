import { useEffect, useState } from 'preact/hooks';

/** How often it is tried whether the service is there again. */
const TRY_MS = 3000;

const changes = new EventTarget();
let isThere = true;
let returns = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** To be told of each request: whether the service answered. */
export function reached(answered: boolean): void {
  if (answered === isThere) return;
  isThere = answered;
  if (answered) returns++;
  clearInterval(timer);
  if (!answered) timer = setInterval(tryAgain, TRY_MS);
  changes.dispatchEvent(new Event('change'));
}

/** Asks whether the service is there. Once it is, all that is shown is asked for anew. */
export function tryAgain(): void {
  fetch('/livez', { cache: 'no-store' }).then(
    () => reached(true),
    () => {},
  );
}

/** Whether the service is there, and how often it has come back. */
export function useReach(): { readonly isThere: boolean; readonly returns: number } {
  const [, redraw] = useState({});
  useEffect(() => {
    const changed = () => redraw({});
    changes.addEventListener('change', changed);
    return () => changes.removeEventListener('change', changed);
  }, []);
  return { isThere, returns };
}
