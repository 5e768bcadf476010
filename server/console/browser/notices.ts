import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';

const SHOWN_MS = 4000;
const notices = new EventTarget();

/** Says something for a few seconds, to screen readers as well. */
export function notify(text: string): void {
  notices.dispatchEvent(new CustomEvent('notice', { detail: text }));
}

/** Where it is said. */
export function Notices(): VNode {
  const [text, setText] = useState('');
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const told = (event: Event) => {
      clearTimeout(timer);
      setText(String((event as CustomEvent).detail));
      timer = setTimeout(() => setText(''), SHOWN_MS);
    };
    notices.addEventListener('notice', told);
    return () => {
      clearTimeout(timer);
      notices.removeEventListener('notice', told);
    };
  }, []);
  return html`<div class="notices" role="status">${text && html`<p>${text}</p>`}</div>`;
}
