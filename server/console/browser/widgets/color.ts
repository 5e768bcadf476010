/** What a color of theme.css is at present, for a canvas, which knows no variables. */
export function color(name: `--${string}`): string {
  const probe = document.createElement('i');
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const { color: found } = getComputedStyle(probe);
  probe.remove();
  return found;
}
