import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { useEntries } from '../data/entries.ts';
import { count, counted } from '../data/quantities.ts';
import type { Answer } from '../data/request.ts';
import type { Tail } from '../data/tail.ts';
import { ago, duration } from '../data/times.ts';

interface StatusProps {
  readonly entries: ReturnType<typeof useEntries>;
  /** The last answer, which tells how new the newest entry is. */
  readonly newest: ReturnType<typeof useEntries>['answer'] | Answer<unknown> | null;
  /** Null when nothing is followed. */
  readonly tail: Tail | null;
  readonly paused: boolean;
  readonly resume: () => void;
  readonly pause: () => void;
}

/** One line on what is listed and how new it is. */
export function Status({ entries, newest, tail, paused, resume, pause }: StatusProps): VNode {
  const { answer, problem, loading } = entries;
  return html`<div class="status">
    ${tail && liveness(tail, paused, resume, pause)}
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    <p class="dim shown">
      ${loading && !answer ? 'Loading…' : `${counted(entries.entries.length, 'entry', 'entries')} shown`}
      ${entries.older.more && ', there are older ones'}
    </p>
    ${answer && newest && html`<p class="dim freshness">${freshness(newest)} · ${Math.round(answer.tookMs)} ms</p>`}
  </div>`;
}

/** How new the newest stored entry is, and what waits to be read. */
export function freshness({
  ingestedAt,
  lagSeconds,
}: {
  readonly ingestedAt: string | null;
  readonly lagSeconds: number | null;
}): string {
  const newest = ingestedAt ? `newest stored ${ago(ingestedAt)}` : 'nothing stored yet';
  return lagSeconds === null ? newest : `${newest} · ingest lag ${duration(lagSeconds)}`;
}

function liveness(tail: Tail, paused: boolean, resume: () => void, pause: () => void): VNode {
  if (tail.state === 'broken' && tail.problem)
    return html`<p class="problem" role="alert">Live tail: ${tail.problem}</p>`;
  const skipped =
    tail.skipped > 0 && `, ${count(tail.skipped)} skipped: more came than can be shown`;
  if (paused)
    return html`<p class="live paused">
      Paused${skipped}
      <button type="button" class="primary" onClick=${resume}>
        ${tail.waiting > 0 ? `Show ${count(tail.waiting)} new` : 'Resume'}
      </button>
    </p>`;
  return html`<p class="live">
    <span class="pulse"></span> ${tail.state === 'open' ? 'Live' : 'Connecting…'}${skipped}
    <button type="button" onClick=${pause}>Pause</button>
  </p>`;
}
