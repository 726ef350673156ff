/**
 * node scripts/gpu-day/snarkjs-modules.mjs
 *
 * Prints the folders of commander, of snarkjs and of their dependencies. A script that packs the
 * project for a GPU host without npm takes these folders along: commands need commander, and the
 * mode `proofs` of the bench needs snarkjs.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** @type {Set<string>} */
const found = new Set();

/**
 * Returns the folder in which Node finds a module that is imported from `from`.
 *
 * @param {string} name
 * @param {string} from
 */
const folderOf = (name, from) => {
  for (let at = from; ; at = dirname(at)) {
    const folder = join(at, 'node_modules', name);
    if (existsSync(folder)) return folder;
    if (at === '.') throw new Error(`${name} is not installed; run npm ci`);
  }
};

/** Adds a module and its dependencies. @param {string} name @param {string} from */
const add = (name, from) => {
  const folder = folderOf(name, from);
  if (found.has(folder)) return;
  found.add(folder);
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  for (const each of Object.keys(dependencies)) add(each, folder);
};

for (const name of ['snarkjs', 'commander']) add(name, '.');
console.log([...found].join('\n'));
