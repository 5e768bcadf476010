import { html } from 'htm/preact';
import { type ComponentChildren, h } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { forgetToken, useToken } from './data/token.ts';
import { FIRST, hashOf, useView, type View } from './data/view.ts';
import { useZone } from './data/zone.ts';
import { Explorer } from './pages/explorer.ts';
import { Help } from './pages/help.ts';
import { Ingest } from './pages/ingest.ts';
import { Login } from './pages/login.ts';
import { Sql } from './pages/sql.ts';
import { Usage } from './pages/usage.ts';
import { Banner } from './widgets/banner.ts';
import { focusRow, leaveField, useKeys } from './widgets/keys.ts';
import { useTheme } from './widgets/theme.ts';
import { Toasts } from './widgets/toasts.ts';

const PAGES = [
  { page: 'logs', name: 'Logs' },
  { page: 'sql', name: 'SQL' },
  { page: 'usage', name: 'API usage' },
  { page: 'ledger', name: 'Ingest' },
] as const;

/** `Europe/Berlin`. */
const LOCAL_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The console: the token is asked for, then the page of the address is shown. */
export function App(): ComponentChildren {
  const [view, show] = useView();
  const { token, refusal } = useToken();
  const { theme, isDark, next } = useTheme();
  const { zone, other } = useZone();
  const [help, setHelp] = useState(false);
  const last = useRef<Record<View['page'], View>>(FIRST);
  // Who comes back to a page finds it as it was left.
  last.current = { ...last.current, [view.page]: view };
  useEffect(() => {
    document.title = `${PAGES.find(({ page }) => page === view.page)?.name} · tailpond`;
  }, [view.page]);
  useKeys({
    '?': () => setHelp(true),
    '/': () => document.getElementById('search')?.focus(),
    j: () => focusRow(1),
    k: () => focusRow(-1),
    Escape: leaveField,
    t: next,
    u: other,
    ...Object.fromEntries(
      PAGES.map(({ page }, i) => [String(i + 1), () => show(last.current[page])]),
    ),
  });
  if (token === null) return h(Login, { refusal });
  const props = { show, zone, isDark };
  return html`<header class="top">
      <a class="skip" href="#main" onClick=${skip}>Skip to the entries</a>
      <strong><img src="favicon.svg" alt="" width="20" height="20" /> tailpond</strong>
      <nav aria-label="Pages">
        ${PAGES.map(
          ({ page, name }) => html`<a
            href=${hashOf(last.current[page])}
            aria-current=${page === view.page ? 'page' : undefined}
            onClick=${(event: MouseEvent) => {
              if (event.ctrlKey || event.metaKey || event.shiftKey) return;
              event.preventDefault();
              show(last.current[page]);
            }}
          >${name}</a>`,
        )}
      </nav>
      <div class="buttons">
        <button type="button" class="quiet" title="Times: local or UTC (u)" onClick=${other}>
          ${zone === 'utc' ? 'UTC' : LOCAL_ZONE}
        </button>
        <button type="button" class="quiet" title="Theme (t)" onClick=${next}>
          <span class="wide">Theme: </span>${theme}
        </button>
        <button
          type="button"
          class="quiet"
          title="Keys (?)"
          aria-label="Help on keys"
          onClick=${() => setHelp(true)}
        >?</button>
        <button type="button" class="quiet" title="Forget the token" onClick=${() => forgetToken()}>
          Sign out
        </button>
      </div>
    </header>
    ${h(Banner, {})}
    <main id="main" tabindex="-1">${pageOf(view, props)}</main>
    ${help && h(Help, { close: () => setHelp(false) })}
    ${h(Toasts, {})}`;
}

type Shared = Pick<Parameters<typeof Explorer>[0], 'show' | 'zone' | 'isDark'>;

function pageOf(view: View, props: Shared): ComponentChildren {
  if (view.page === 'sql') return h(Sql, { view, ...props });
  if (view.page === 'usage') return h(Usage, { view, ...props });
  if (view.page === 'ledger') return h(Ingest, { view, ...props });
  return h(Explorer, { view, ...props });
}

/** The address holds the view, so that a link to a place of the page cannot be followed. */
function skip(event: Event) {
  event.preventDefault();
  document.querySelector<HTMLElement>('.row > .line, #main')?.focus();
}
