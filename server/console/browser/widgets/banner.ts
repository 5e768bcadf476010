import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { tryAgain, useReach } from '../data/reach.ts';

/** Tells that the service is gone, once for all of the page. */
export function Banner(): VNode | null {
  const { isThere } = useReach();
  if (isThere) return null;
  return html`<p class="banner" role="alert">
    The service cannot be reached. This page may be out of date.
    <button type="button" onClick=${tryAgain}>Retry</button>
  </p>`;
}
