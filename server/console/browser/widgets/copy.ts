import { notify } from './toasts.ts';

/** Puts a text on the clipboard and says so. */
export async function copy(text: string, what: string): Promise<void> {
  try {
    // There on https and loopback alone.
    if (navigator.clipboard) await navigator.clipboard.writeText(text);
    else copyBySelection(text);
    notify(`${what} copied.`);
  } catch {
    notify('The browser does not allow to copy.');
  }
}

function copyBySelection(text: string) {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'unseen';
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  if (!done) throw new Error('refused');
}
