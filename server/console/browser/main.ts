import { h, render } from 'preact';
import { App } from './app.ts';
import { applyTheme } from './widgets/theme.ts';

const root = document.getElementById('console');
if (!root) throw new Error('BUG: index.html has no place for the console');
applyTheme();
render(h(App, {}), root);
