import { useEffect, useState } from 'preact/hooks';

/** Kept in the tab alone: it ends with the tab, and no other tab, address or log has it. */
const KEY = 'tailpond-token';

const changes = new EventTarget();
let refusal: string | null = null;

/** The access token of this tab; null when it is to be asked for. */
export function token(): string | null {
  return sessionStorage.getItem(KEY);
}

export function keepToken(text: string): void {
  sessionStorage.setItem(KEY, text);
  refusal = null;
  changes.dispatchEvent(new Event('change'));
}

/** Forgets the token; `why` is told where it is asked for anew. */
export function forgetToken(why: string | null = null): void {
  sessionStorage.removeItem(KEY);
  refusal = why;
  changes.dispatchEvent(new Event('change'));
}

/** The token, or why there is none any more; follows changes. */
export function useToken(): { readonly token: string | null; readonly refusal: string | null } {
  const [, redraw] = useState({});
  useEffect(() => {
    const changed = () => redraw({});
    changes.addEventListener('change', changed);
    return () => changes.removeEventListener('change', changed);
  }, []);
  return { token: token(), refusal };
}
