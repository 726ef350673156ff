/** Numbers and names as the page writes them. */
import type { AdapterDescription } from '../../src/api.js';

/** Milliseconds with three significant digits, but no digits behind the point from 100 on. */
export function formatMs(ms: number | null): string {
  if (ms === null) return '–';
  if (ms >= 100) return Math.round(ms).toLocaleString('en');
  return ms.toFixed(ms >= 10 ? 1 : 2);
}

export function formatSize(n: number): string {
  const log = Math.log2(n);
  const size = n.toLocaleString('en');
  return n > 1 && Number.isInteger(log) ? `2^${log} = ${size}` : size;
}

export function formatBytes(bytes: number): string {
  return bytes < 2 ** 20 ? `${(bytes / 2 ** 10).toFixed(0)} KiB` : `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

export function describeAdapter({ vendor, architecture, device, description }: AdapterDescription): string {
  const parts = [vendor, architecture, device, description].filter((part) => part !== '');
  return parts.length === 0 ? 'an adapter without a name' : [...new Set(parts)].join(' · ');
}
