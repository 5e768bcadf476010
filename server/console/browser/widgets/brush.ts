import type uPlot from 'uplot';

/** A drag that is shorter was meant as a click. */
const LEAST_PX = 5;

/** Lets a drag along a plot choose a range, in seconds; by mouse, pen or finger. Gives what undoes that. */
export function brush(plot: uPlot, onRange: (from: number, to: number) => void): () => void {
  const { over } = plot;
  const undoing = new AbortController();
  let begun: number | null = null;

  const at = (event: PointerEvent) => {
    const { left, width } = over.getBoundingClientRect();
    return Math.min(Math.max(event.clientX - left, 0), width);
  };
  const select = (from: number, to: number) =>
    plot.setSelect(
      { left: Math.min(from, to), width: Math.abs(to - from), top: 0, height: over.clientHeight },
      false,
    );
  const end = (event: PointerEvent) => {
    if (begun === null) return;
    const [from, to] = [Math.min(begun, at(event)), Math.max(begun, at(event))];
    begun = null;
    select(0, 0);
    if (event.type === 'pointerup' && to - from >= LEAST_PX)
      onRange(plot.posToVal(from, 'x'), plot.posToVal(to, 'x'));
  };

  const options = { signal: undoing.signal };
  over.addEventListener(
    'pointerdown',
    (event) => {
      if (event.button !== 0) return;
      over.setPointerCapture(event.pointerId);
      begun = at(event);
    },
    options,
  );
  over.addEventListener(
    'pointermove',
    (event) => begun !== null && select(begun, at(event)),
    options,
  );
  over.addEventListener('pointerup', end, options);
  over.addEventListener('pointercancel', end, options);
  return () => undoing.abort();
}
