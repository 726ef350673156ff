import type uPlot from 'uplot';

/** uPlot, which comes with the first chart that is drawn. */
export async function loadUPlot(): Promise<typeof uPlot> {
  // It makes a number format of the browser's language as it loads, and throws where that is none: a Chromium without a locale
  // (LANG=C, as in many containers) calls its own "en-US@posix".
  if (!isLanguage(navigator.language))
    Object.defineProperty(navigator, 'language', { value: 'en', configurable: true });
  return (await import('uplot')).default;
}

function isLanguage(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}
