/** The page as host of a run. */
import type { Host } from '../bench/environment.js';

declare global {
  /** Git commit of the sources; vite.config.ts defines it. */
  const BENCH_COMMIT: string;
}

/**
 * Browsers by user agent, most specific first: Edge also claims to be Chrome, and Chrome to be
 * Safari.
 */
const browsers = [
  [/\bEdg(?:A|iOS)?\/([\d.]+)/, 'Edge'],
  [/\bOPR\/([\d.]+)/, 'Opera'],
  [/\bSamsungBrowser\/([\d.]+)/, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\/([\d.]+)/, 'Firefox'],
  [/\b(?:HeadlessChrome|Chrome|CriOS)\/([\d.]+)/, 'Chrome'],
  [/\bVersion\/([\d.]+).*\bSafari\//, 'Safari'],
] as const;

const systems = [/Android [\d.]+|iPhone OS [\d_]+|CPU OS [\d_]+|Mac OS X [\d_.]+|Windows NT [\d.]+|CrOS/, /Linux/];

export function browserOf(userAgent: string): string {
  for (const [pattern, name] of browsers) {
    const version = pattern.exec(userAgent)?.[1];
    if (version !== undefined) return `${name} ${version}`;
  }
  return 'unknown browser';
}

export function systemOf(userAgent: string): string {
  const found = systems.map((pattern) => pattern.exec(userAgent)?.[0]).find((name) => name !== undefined);
  return (found ?? 'unknown system').replaceAll('_', '.').replace('CPU OS', 'iPadOS').replace('CrOS', 'ChromeOS');
}

/** @param query query of the address, unescaped */
export function pageHost(query: string): Host {
  const { userAgent, hardwareConcurrency } = navigator;
  return {
    gpu: navigator.gpu as GPU | undefined,
    query,
    facts: {
      runtime: browserOf(userAgent),
      os: systemOf(userAgent),
      userAgent,
      commit: BENCH_COMMIT === '' ? null : BENCH_COMMIT,
      cores: hardwareConcurrency ?? null,
      crossOriginIsolated,
    },
  };
}
