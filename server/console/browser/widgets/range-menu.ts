import { html } from 'htm/preact';
import { h, type VNode } from 'preact';
import { boundsOf, fixedRange, QUICK_RANGES, quickName, type Range } from '../data/range.ts';
import { fromInput, span, toInput, type Zone } from '../data/times.ts';
import { Menu } from './menu.ts';

interface RangeMenuProps {
  readonly range: Range;
  /** What `now` is to a quick range, in milliseconds. */
  readonly now: number;
  readonly zone: Zone;
  readonly onRange: (range: Range) => void;
}

/** The choice of the time range: a quick one, or from and to; and steps to before, after and more of it. */
export function RangeMenu({ range, now, zone, onRange }: RangeMenuProps): VNode {
  const { from, to } = boundsOf(range, now);
  const length = to - from;
  const step = (sign: string, name: string, begin: number, end: number) => html`<button
    type="button"
    aria-label=${name}
    title=${name}
    onClick=${() => onRange(fixedRange(begin, end))}
  >${sign}</button>`;
  return html`<div class="field time" role="group" aria-label="Time range">
    <span>Time range</span>
    <div class="range">
      ${step('‹', 'Earlier', from - length / 2, to - length / 2)}
    ${h(Menu, {
      name: 'ranges',
      label: 'last' in range ? quickName(range.last) : span(from, to, zone),
      children: (close) => {
        const choose = (chosen: Range) => {
          close();
          onRange(chosen);
        };
        return [quick(range, choose), custom(range, { from, to, zone, choose })];
      },
    })}
      ${step('›', 'Later', from + length / 2, to + length / 2)}
      ${step('−', 'Zoom out', from - length / 2, to + length / 2)}
  </div>
  </div>`;
}

function quick(range: Range, choose: (range: Range) => void): VNode {
  return html`<ul class="choices">
    ${QUICK_RANGES.map(
      (last) => html`<li>
        <button
          type="button"
          aria-pressed=${String('last' in range && range.last === last)}
          onClick=${() => choose({ last })}
        >${quickName(last)}</button>
      </li>`,
    )}
  </ul>`;
}

/** From and to. The text that is typed stays while the page is drawn anew, until another range is shown. */
function custom(
  range: Range,
  {
    from,
    to,
    zone,
    choose,
  }: { from: number; to: number; zone: Zone; choose: (range: Range) => void },
): VNode {
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const end = form.elements.namedItem('to') as HTMLInputElement;
    const times = ['from', 'to'].map((name) =>
      fromInput((form.elements.namedItem(name) as HTMLInputElement).value, zone),
    );
    const [begin = Number.NaN, until = Number.NaN] = times;
    end.setCustomValidity(begin < until ? '' : 'The end must be after the beginning.');
    if (form.reportValidity()) choose(fixedRange(begin, until));
  };
  return html`<form class="custom" key=${JSON.stringify(range)} onSubmit=${submit} noValidate>
    ${moment('From', 'from', toInput(from, zone))} ${moment('To', 'to', toInput(to, zone))}
    <button class="primary">Show this range</button>
  </form>`;
}

function moment(label: string, name: string, value: string): VNode {
  return html`<label>
    ${label} <input type="datetime-local" name=${name} step="1" required defaultValue=${value} />
  </label>`;
}
