import { useEffect, useRef } from 'preact/hooks';

export type Keys = Readonly<Record<string, () => void>>;

/** Calls what belongs to a key, unless it is typed into a field or goes with Ctrl, Alt or Meta. */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const action = latest.current[event.key];
      if (!action || event.ctrlKey || event.altKey || event.metaKey || isTyping(event)) return;
      event.preventDefault();
      action();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
}

/** Moves the focus to the next row, or the one before; to the first when none has it. */
export function focusRow(step: 1 | -1): void {
  const lines = [...document.querySelectorAll<HTMLElement>('.row > .line')];
  const row = document.activeElement?.closest('.row');
  const at = lines.findIndex((line) => line.parentElement === row);
  const line = lines[at === -1 ? 0 : Math.min(Math.max(at + step, 0), lines.length - 1)];
  line?.focus({ preventScroll: true });
  line?.scrollIntoView({ block: 'nearest' });
}

/** Leaves the field that is being typed into. */
export function leaveField(): void {
  const focused = document.activeElement;
  if (focused instanceof HTMLElement && focused.matches(FIELDS)) focused.blur();
}

const FIELDS = 'input, textarea, select';

function isTyping({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement) || document.querySelector('dialog[open]')) return true;
  return key !== 'Escape' && target.matches(FIELDS);
}
