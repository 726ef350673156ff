/** What modes that time MSMs say in a terminal. */
import { formatBytes, formatMs, formatPercent, shortSize } from '../format.js';
import { rowsOf, type StampedRow } from '../rows.js';
import { fastestOf, partsOfWall, summarise, summarisePeers } from '../summary.js';
import { tableLines, withoutEmpty } from '../table.js';
import { standingWords } from '../words.js';

/** Times at each size with each setting, and where they go. */
export function timesTable(rows: readonly StampedRow[]): string[] {
  const timed = summarise(rows);
  if (timed.length === 0) return [];
  const peers = summarisePeers(rows);
  const names = [...new Set(peers.map(({ peer }) => peer))];
  const heads = ['n', 'setting', 'median, ms', 'from', 'to', 'GPU, ms', 'encode', 'to result', 'read back'];
  const table = [
    [...heads, ...names.map((name) => `${name}, ms`), 'of the roofline', 'M products', 'scratch', 'answer'],
  ];
  for (const each of timed) {
    const { n, setting, medianMs, lowMs, highMs, gpuMs, walls, ofBound, productEquivalents, warmUp, wrong } = each;
    table.push([
      shortSize(n),
      setting,
      formatMs(medianMs),
      formatMs(lowMs),
      formatMs(highMs),
      formatMs(gpuMs),
      formatMs(walls?.encodeMs ?? null),
      formatMs(walls?.submitToResultMs ?? null),
      formatMs(walls?.readBackMs ?? null),
      ...names.map((name) => {
        const peer = peers.find((other) => other.peer === name && other.case === each.case);
        return peer?.wrong === true ? 'WRONG' : formatMs(peer?.medianMs ?? null);
      }),
      ofBound === null ? '–' : formatPercent(ofBound),
      productEquivalents === null ? '–' : (productEquivalents / 1e6).toPrecision(3),
      warmUp === null ? '–' : formatBytes(warmUp.scratchBytes),
      wrong ? 'WRONG' : 'right',
    ]);
  }
  return [...tableLines(withoutEmpty(table), 2), ...passes(timed)];
}

/** Where the time of the median repetition goes: a column for each size and setting, as the passes are many. */
function passes(timed: ReturnType<typeof summarise>): string[] {
  const phased = timed.flatMap((each) => {
    const parts = each.on === 'gpu' ? partsOfWall(each) : null;
    const own = timed.some(({ setting }) => setting !== each.setting) ? `, ${each.setting}` : '';
    return parts === null ? [] : [{ label: `${shortSize(each.n)}${own}`, parts, wallMs: each.typicalMs as number }];
  });
  if (phased.length === 0) return [];
  const names = [...new Set(phased.flatMap(({ parts }) => parts.map(({ name }) => name)))];
  const lines = names.map((name) => [
    name,
    ...phased.flatMap(({ parts, wallMs }) => {
      const ms = parts.find((part) => part.name === name)?.ms ?? null;
      return [formatMs(ms), ms === null ? '–' : formatPercent(ms / wallMs)];
    }),
  ]);
  const heads = ['where it goes, ms', ...phased.flatMap(({ label }) => [label, ''])];
  return ['', ...tableLines([heads, ...lines]), 'of the repetition in the middle'];
}

/** Of a sweep, who is fastest at each size; and what could not be had, or was not on the GPU. */
export function remarks(rows: readonly StampedRow[]): string[] {
  const timed = summarise(rows);
  const swept = rowsOf(rows, 'init').some(({ mode }) => mode === 'sweep');
  const fastest = [...new Set(timed.map(({ n }) => n))].flatMap((n) => {
    const own = timed.filter((each) => each.n === n);
    const found = swept && own.length > 1 ? fastestOf(own) : null;
    return found === null
      ? []
      : [`${shortSize(n)}: ${found.best.setting} is ${standingWords(found, own.length, ({ setting }) => setting)}`];
  });
  const said = timed.flatMap(({ setting, n, warmUp, on, boundExceeded }) =>
    [
      ...(warmUp?.clamped ?? []).map((what) => `this device could not have it: ${what}`),
      ...(on === 'cpu' ? ['computed on the CPU (cpubelow)'] : []),
      ...(boundExceeded ? ['faster than its roofline was measured, which therefore is none'] : []),
    ].map((what) => `${shortSize(n)}, ${setting}: ${what}`),
  );
  const all = [...fastest, ...said];
  return all.length === 0 ? [] : ['', ...all];
}

export const timingsReport = (rows: readonly StampedRow[]): string[] => [...timesTable(rows), ...remarks(rows)];
