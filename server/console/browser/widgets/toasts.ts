import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const SHOWN_MS = 4000;
const toasts = new EventTarget();

/** Says something for a few seconds, to screen readers as well. */
export function notify(text: string): void {
  toasts.dispatchEvent(new CustomEvent('toast', { detail: text }));
}

/** Where it is said. */
export function Toasts(): VNode {
  const [text, setText] = useState('');
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const told = (event: Event) => {
      clearTimeout(timer);
      setText(String((event as CustomEvent).detail));
      timer = setTimeout(() => setText(''), SHOWN_MS);
    };
    toasts.addEventListener('toast', told);
    return () => {
      clearTimeout(timer);
      toasts.removeEventListener('toast', told);
    };
  }, []);
  return html`<div class="toasts" role="status">${text && html`<p>${text}</p>`}</div>`;
}
