import { useEffect, useState } from 'preact/hooks';

export type Theme = 'auto' | 'dark' | 'light';

const KEY = 'tailpond-theme';
const NEXT: Record<Theme, Theme> = { auto: 'dark', dark: 'light', light: 'auto' };
const dark = matchMedia('(prefers-color-scheme: dark)');

/** Puts the chosen theme on the page; for its start, before anything is drawn. */
export function applyTheme(): void {
  document.documentElement.dataset.theme = chosen();
}

/** The chosen theme, whether it comes out dark, and the step to the next one. */
export function useTheme(): { theme: Theme; isDark: boolean; next: () => void } {
  const [theme, setTheme] = useState(chosen);
  const [systemDark, setSystemDark] = useState(dark.matches);
  useEffect(() => {
    const changed = () => setSystemDark(dark.matches);
    dark.addEventListener('change', changed);
    return () => dark.removeEventListener('change', changed);
  }, []);
  const next = () => {
    localStorage.setItem(KEY, NEXT[theme]);
    applyTheme();
    setTheme(NEXT[theme]);
  };
  return { theme, isDark: theme === 'auto' ? systemDark : theme === 'dark', next };
}

function chosen(): Theme {
  const kept = localStorage.getItem(KEY);
  return kept === 'dark' || kept === 'light' ? kept : 'auto';
}
