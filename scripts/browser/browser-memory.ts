/** A Chromium with a profile on the disk, and the memory that all of its processes take. */
import { readdirSync, readFileSync } from 'node:fs';
import { type BrowserContext, chromium } from 'playwright';
import { launchChromium } from './launch.js';

/** Starts Chromium with a profile on the disk: others keep the origin private file system in memory. */
export const openProfile = async (profile: string): Promise<BrowserContext> => {
  const { browser, launchOptions } = await launchChromium('software');
  await browser.close();
  return chromium.launchPersistentContext(profile, launchOptions);
};

const textOf = (pid: string, name: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    // the process has ended
    return '';
  }
};

/** Returns the anonymous and shared memory of a browser with a profile, which its processes share, in bytes. Linux only. */
export const bytesOfBrowser = (profile: string): number => {
  const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const parents = new Map(processes.map((pid) => [pid, textOf(pid, 'stat').replace(/^.*\) \S+ (\d+) .*$/s, '$1')]));
  const roots = new Set(processes.filter((pid) => textOf(pid, 'cmdline').includes(profile)));
  const isInside = (pid: string | undefined): boolean =>
    pid !== undefined && (roots.has(pid) || isInside(parents.get(pid)));
  const kilobytes = processes.filter(isInside).flatMap((pid) => {
    const found = textOf(pid, 'smaps_rollup').matchAll(/^Pss_(?:Anon|Shmem):\s+(\d+) kB$/gm);
    return [...found].map(([, amount]) => Number(amount));
  });
  return 1024 * kilobytes.reduce((sum, each) => sum + each, 0);
};
