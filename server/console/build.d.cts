/** Bundles the console into dist/console. */
export function buildConsole(): void;
