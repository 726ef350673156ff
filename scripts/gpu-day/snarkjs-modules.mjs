/**
 * node scripts/gpu-day/snarkjs-modules.mjs
 *
 * The folders of snarkjs and of all that it needs, for a GPU host that has none of it: pack.sh takes them, and `proofs` of the bench can run there.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** @type {Set<string>} */
const found = new Set();

/** Where Node would find a module that one in `from` imports. @param {string} name @param {string} from */
const folderOf = (name, from) => {
  for (let at = from; ; at = dirname(at)) {
    const folder = join(at, 'node_modules', name);
    if (existsSync(folder)) return folder;
    if (at === '.') throw new Error(`${name} is not installed; npm ci`);
  }
};

/** @param {string} name @param {string} from */
const add = (name, from) => {
  const folder = folderOf(name, from);
  if (found.has(folder)) return;
  found.add(folder);
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  for (const each of Object.keys(dependencies)) add(each, folder);
};

add('snarkjs', '.');
console.log([...found].join('\n'));
