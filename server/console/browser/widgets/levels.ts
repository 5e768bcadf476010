import { html } from 'htm/preact';
import type { VNode } from 'preact';
import type { Bucket } from '../data/answers.ts';
import { count } from '../data/quantities.ts';
import { LEVELS, type Level } from '../data/search-query.ts';

interface LevelsProps {
  /** The levels that are chosen; none for any. */
  readonly levels: readonly Level[];
  readonly buckets: readonly Bucket[];
  readonly onLevels: (levels: Level[]) => void;
}

/** A button for each severity, with the number of its entries in the range. */
export function Levels({ levels, buckets, onLevels }: LevelsProps): VNode {
  const toggled = (level: Level) =>
    LEVELS.filter((each) => (each === level) !== levels.includes(each));
  const entries = (level: Level) =>
    buckets.reduce((sum, bucket) => sum + (bucket.severity === level ? bucket.entries : 0), 0);
  return html`<div class="levels" role="group" aria-label="Severities">
    ${LEVELS.map((level) => {
      const number = entries(level);
      return html`<button
        type="button"
        key=${level}
        class=${`level ${level}`}
        aria-pressed=${String(levels.includes(level))}
        title=${`Only entries of severity ${level}, with the others that are chosen`}
        onClick=${() => onLevels(toggled(level))}
      >${level} <span>${number > 0 && count(number)}</span></button>`;
    })}
  </div>`;
}
