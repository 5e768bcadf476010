import { useState } from 'preact/hooks';

const KEY = 'tailpond-views';

/** What stands behind the `#` of a view that was given a name. */
export interface SavedView {
  readonly name: string;
  readonly hash: string;
}

/** The views that were given names, kept by the browser. */
export function useSavedViews() {
  const [views, setViews] = useState(kept);
  const keep = (next: readonly SavedView[]) => {
    localStorage.setItem(KEY, JSON.stringify(next));
    setViews(next);
  };
  return {
    views,
    /** In the place of one with the same name. */
    save: (view: SavedView) =>
      keep([...views.filter(({ name }) => name !== view.name), view].sort(byName)),
    remove: (name: string) => keep(views.filter((view) => view.name !== name)),
  };
}

function byName(a: SavedView, b: SavedView): number {
  return a.name < b.name ? -1 : 1;
}

function kept(): readonly SavedView[] {
  try {
    const views: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(views) ? views.filter(isView) : [];
  } catch {
    return [];
  }
}

function isView(view: Partial<SavedView> | null): view is SavedView {
  return typeof view?.name === 'string' && typeof view.hash === 'string';
}
