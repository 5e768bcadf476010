import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { RejectedLine } from '../data/answers.ts';
import { counted } from '../data/quantities.ts';
import { ask, messageOf } from '../data/request.ts';
import { dateTime, type Zone } from '../data/times.ts';
import { notify } from '../widgets/toasts.ts';

interface RejectedRowProps {
  readonly line: RejectedLine;
  readonly zone: Zone;
  readonly onRetried: (id: string) => void;
}

/** A rejected line with its reason; open, it can be edited; either way it is tried again by one click. */
export function RejectedRow({ line, zone, onRetried }: RejectedRowProps): VNode {
  const [open, setOpen] = useState(false);
  const [text, setText] = useState(line.line);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState('');
  const edited = text !== line.line;
  const shown = line.shown_bytes === line.length;
  const retry = async () => {
    setBusy(true);
    setProblem('');
    try {
      // Without a text, its very bytes go in again, which need not be valid UTF-8.
      await ask('/api/rejected/retry', undefined, {
        id: line.id,
        ...(edited ? { line: inOneLine(text) } : {}),
      });
      notify('The line is read again; if it is still not one, it comes back here.');
      onRetried(line.id);
    } catch (error) {
      setProblem(messageOf(error));
      setBusy(false);
    }
  };
  const label = edited ? 'Retry the edited line' : 'Retry';
  const button = html`<button
    type="button"
    class=${open ? 'primary' : ''}
    disabled=${!line.whole || busy}
    title=${line.whole ? undefined : CUT}
    onClick=${retry}
  >${busy ? 'Sending…' : label}</button>`;
  const toggle = () => setOpen(!open);
  return html`<li class="row warn">
    <div
      class="line"
      role="button"
      tabindex="0"
      aria-expanded=${String(open)}
      onClick=${toggle}
      onKeyDown=${(event: KeyboardEvent) => {
        if (event.key === 'Escape' ? !open : event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        toggle();
      }}
    >
      <time dateTime=${line.rejected_at}>${dateTime(Date.parse(line.rejected_at), zone).slice(5, 19)}</time>
      <span class="project">${line.source}</span>
      <span class="reason">${line.reason}</span>
      <span class="message">${line.line.slice(0, 500)}</span>
    </div>
    ${!open && html`<div class="aside">${button}</div>`}
    ${problem && html`<p class="problem" role="alert">${problem}</p>`}
    ${
      open &&
      html`<div class="details">
        <p class="dim">${line.file}, ${counted(line.length, 'byte', 'bytes')} from byte ${line.offset}</p>
        ${
          shown
            ? html`<textarea
                aria-label="The line"
                rows="6"
                spellcheck=${false}
                value=${text}
                onInput=${(event: InputEvent) => setText((event.currentTarget as HTMLTextAreaElement).value)}
                onKeyDown=${(event: KeyboardEvent) => event.key === 'Enter' && event.ctrlKey && retry()}
              ></textarea>
              <p class="hint">${fault(text) ?? 'This is a JSON object.'}</p>`
            : html`<pre class="text">${line.line}</pre>
              <p class="hint">${line.whole ? PART : CUT}</p>`
        }
        <p class="actions">
          ${line.whole && button}
          ${edited && html`<button type="button" onClick=${() => setText(line.line)}>Undo the edits</button>`}
        </p>
      </div>`
    }
  </li>`;
}

/** JSON may be broken between its parts, for reading; a line may not. */
function inOneLine(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, ' ').trim();
}

const CUT = 'Only its beginning was kept: it cannot be tried again.';

const PART = 'This is its beginning. All of it was kept, and Retry sends it in again.';

/** Why a text is not a JSON object; null when it is one. The service judges; this only tells before. */
function fault(text: string): string | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? null
      : 'This is JSON, but not an object.';
  } catch (error) {
    return error instanceof Error ? `This is not JSON: ${error.message}` : null;
  }
}
