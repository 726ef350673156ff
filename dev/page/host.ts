/** The page as the host of a run: its address, its facts, and the server that its rows are posted to. */
import { type Host, rowPaths, type StampedRow } from '../bench/rows.js';
import { errorMessage, type RowSink } from '../bench/run.js';

/**
 * Reads the page's own address: its query, and the same in its fragment (`#autorun=…`, with or
 * without `?` or `/`), for links that must not reach a server. The query wins where both name a
 * knob.
 */
export function readAddress({ search, hash }: Pick<Location, 'search' | 'hash'>): URLSearchParams {
  const query = new URLSearchParams(search);
  const ofQuery = new Set(query.keys());
  for (const [name, value] of new URLSearchParams(hash.replace(/^#[/?]*/, '')))
    if (!ofQuery.has(name)) query.append(name, value);
  return query;
}

const timeoutMs = 5000;

export type RowPoster = ReturnType<typeof makeRowPoster>;

/**
 * Posts rows to the dev server, one after the other. A page from a static host has no dev server:
 * the first failure ends the posting, and the run goes on.
 */
export function makeRowPoster() {
  /** Reason why posting ended, and the number of result rows that the server has. */
  const state = { failure: null as string | null, posted: 0 };
  let last: Promise<void> = Promise.resolve();

  const send = async (path: (typeof rowPaths)[number], row: StampedRow): Promise<void> => {
    if (state.failure !== null) return;
    try {
      const { ok, status } = await fetch(new URL(path, document.baseURI), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(row),
        signal: AbortSignal.timeout(timeoutMs),
      });
      // every result row is also a progress row, so only results count
      if (ok) state.posted += path === 'results' ? 1 : 0;
      else state.failure = `the server answered ${status}`;
    } catch (error) {
      state.failure = errorMessage(error);
    }
  };
  const sink: RowSink = {
    post(row) {
      for (const path of rowPaths) last = last.then(() => send(path, row));
    },
    flushed: () => last,
  };
  return { state, sink };
}

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
