import { PALETTE_SIZE } from './colours.js';

/** The page's colours and font as a canvas takes them. */
export interface Theme {
  readonly ink: string;
  readonly soft: string;
  readonly line: string;
  readonly card: string;
  readonly font: string;
  readonly series: readonly string[];
}

/** @param element in the page: its computed style is read */
export function readTheme(element: Element): Theme {
  const style = getComputedStyle(element);
  const read = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: read('ink'),
    soft: read('soft'),
    line: read('line'),
    card: read('card'),
    font: style.fontFamily,
    series: Array.from({ length: PALETTE_SIZE }, (_, index) => read(`series-${index + 1}`)),
  };
}

/** Calls back when the page turns light or dark, until `signal` ends it. */
export function onThemeChange(callback: () => void, signal: AbortSignal): void {
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', callback, { signal });
}
