import { html } from 'htm/preact';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface MenuProps {
  readonly label: string;
  readonly name: string;
  /** Returns the contents; `close` closes the menu. */
  readonly children: (close: () => void) => ComponentChildren;
}

/** A button that opens a panel below it; Esc and a click elsewhere close it. */
export function Menu({ label, name, children }: MenuProps): VNode {
  const place = useRef<HTMLDetailsElement>(null);
  const close = () => {
    if (place.current) place.current.open = false;
  };
  useEffect(() => {
    const elsewhere = (event: Event) => {
      if (!place.current?.contains(event.target as Node)) close();
    };
    document.addEventListener('pointerdown', elsewhere);
    document.addEventListener('focusin', elsewhere);
    return () => {
      document.removeEventListener('pointerdown', elsewhere);
      document.removeEventListener('focusin', elsewhere);
    };
  }, []);
  return html`<details
    class=${`menu ${name}`}
    ref=${place}
    onKeyDown=${(event: KeyboardEvent) => {
      if (event.key !== 'Escape' || !place.current?.open) return;
      close();
      place.current.querySelector('summary')?.focus();
      event.stopPropagation();
    }}
  >
    <summary>${label}</summary>
    <div class="panel">${children(close)}</div>
  </details>`;
}
