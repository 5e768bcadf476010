import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

interface FieldProps {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly placeholder?: string;
  /** The values that are offered. */
  readonly options?: readonly string[];
  readonly onValue: (value: string) => void;
}

/** Long enough to type on, short enough not to be noticed. */
const PAUSE_MS = 350;

/** A text that is told when it is entered: by Enter, by leaving the field, or by a pause. */
export function Field({ id, label, value, placeholder, options, onValue }: FieldProps): VNode {
  const [draft, setDraft] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => setDraft(value), [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const enter = (text: string) => {
    clearTimeout(timer.current);
    if (text !== value) onValue(text);
  };
  return html`<label class=${`field ${id}`}>
    <span>${label}</span>
    <input
      id=${id}
      type="text"
      value=${draft}
      placeholder=${placeholder}
      list=${options && `${id}-options`}
      autocomplete="off"
      spellcheck=${false}
      onInput=${(event: InputEvent) => {
        const text = (event.currentTarget as HTMLInputElement).value;
        setDraft(text);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => enter(text), PAUSE_MS);
      }}
      onChange=${(event: Event) => enter((event.currentTarget as HTMLInputElement).value)}
      onKeyDown=${(event: KeyboardEvent) => event.key === 'Enter' && enter(draft)}
    />
    ${
      options &&
      html`<datalist id=${`${id}-options`}>
        ${options.map((option) => html`<option value=${option} />`)}
      </datalist>`
    }
  </label>`;
}
