import { reject, shown } from './error.ts';
import { literal } from './sql-fragment.ts';

/** A step into a JSON value: a member's name, or a place in an array, from 0. */
export type Step = string | number;

const MEMBER_NAME = /^[^"\\*\p{Cc}]{1,256}$/u;

/** Whether a path can hold a member's name. */
export function isMemberName(name: string): boolean {
  return MEMBER_NAME.test(name);
}

/** The JSON path of `steps`, for the engine. Throws SqlRefused for names that a path cannot hold. */
export function pathOf(steps: readonly Step[]): string {
  const path = steps.map((step) => {
    if (typeof step === 'number') return `[${step}]`;
    if (!isMemberName(step)) reject(null, `A field cannot be called ${shown(step)}`);
    return `."${step}"`;
  });
  return literal(`$${path.join('')}`);
}

/**
 * The paths that may lead to a value: all objects; or arrays, of which the first element counts where no place is given; and the same by
 * keys with dashes.
 */
export function pathsOf(steps: readonly Step[]): string[] {
  const dashed = (step: Step) => (typeof step === 'string' ? step.replaceAll('_', '-') : step);
  const last = steps.at(-1);
  const named = [steps, ...(last === undefined ? [] : [[...steps.slice(0, -1), dashed(last)]])];
  return [...new Set([...named, steps.map(dashed)].flatMap(pathsByName))];
}

function pathsByName(steps: readonly Step[]): string[] {
  const names = steps.filter((step) => typeof step === 'string');
  const plain = steps.every((step) => step === 0 || typeof step === 'string');
  const places = steps.flatMap((step, i) => {
    if (typeof step === 'number') return [step];
    const nested = i > 0 && typeof steps[i - 1] === 'string';
    return nested ? [0, step] : [step];
  });
  const rooted = typeof steps[0] === 'string' && names.length > 0 ? [[0, ...places]] : [];
  const all = [...(plain ? [names] : []), places, ...rooted].map(pathOf);
  return [...new Set(all)];
}

/** The same from an element that was unnested: of one that is an array itself, no element counts. */
export function pathsFromElement(steps: readonly Step[]): string[] {
  const paths = pathsOf(steps);
  return typeof steps[0] === 'string' ? paths.filter((path) => !path.startsWith("'$[")) : paths;
}
