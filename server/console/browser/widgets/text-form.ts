import { html } from 'htm/preact';
import type { VNode } from 'preact';

interface TextFormProps {
  readonly label: string;
  readonly placeholder: string;
  readonly button: string;
  /** Told of a text that is not empty; whether it was taken, so that the field is empty again. */
  readonly onText: (text: string) => boolean;
}

/** A field and a button, by which one text after the other is entered. */
export function TextForm({ label, placeholder, button, onText }: TextFormProps): VNode {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const field = (event.currentTarget as HTMLFormElement).elements.namedItem('text');
    const text = (field as HTMLInputElement).value.trim();
    if (text !== '' && onText(text)) (field as HTMLInputElement).value = '';
  };
  return html`<form class="name" onSubmit=${submit}>
    <input name="text" aria-label=${label} placeholder=${placeholder} maxlength="200" />
    <button>${button}</button>
  </form>`;
}
