import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { messageOf } from '../data/request.ts';
import { keepToken } from '../data/token.ts';

/** Asks for the token, and keeps it when the service takes it. */
export function Login({ refusal }: { readonly refusal: string | null }): VNode {
  const [problem, setProblem] = useState(refusal);
  const [busy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const input = (event.currentTarget as HTMLFormElement).elements.namedItem('token');
    const text = (input as HTMLInputElement).value.trim();
    setBusy(true);
    const detail = await refusalOf(text);
    setBusy(false);
    if (detail === null) return keepToken(text);
    setProblem(detail);
    (input as HTMLInputElement).select();
  };
  return html`<main class="login">
    <form onSubmit=${submit}>
      <h1><img src="favicon.svg" alt="" width="28" height="28" /> tailpond</h1>
      <label class="field">
        <span>Access token</span>
        <input
          type="password"
          name="token"
          required
          autofocus
          autocomplete="off"
          aria-describedby="token-problem"
        />
      </label>
      <p class="problem" role="alert" id="token-problem">${problem}</p>
      <button class="primary" disabled=${busy}>${busy ? 'Checking…' : 'Open'}</button>
      <p class="dim">
        It stays in this tab and ends with it. The log of the service tells where its token is;
        ${' '}<code>tailpond token</code> makes others.
      </p>
    </form>
  </main>`;
}

/** What the service has against a token; null when it takes it. */
async function refusalOf(token: string): Promise<string | null> {
  // Such a header could not be sent.
  if (!/^[\x21-\x7e]+$/.test(token))
    return 'A token has letters, digits and signs only, without spaces.';
  try {
    const response = await fetch('/api/sources', { headers: { 'X-API-KEY': token } });
    if (response.ok) return null;
    const { detail } = (await response.json()) as { detail?: string };
    return detail ?? `The service answered with status ${response.status}.`;
  } catch (error) {
    return error instanceof TypeError ? 'The service cannot be reached.' : messageOf(error);
  }
}
