import { readFileSync } from 'node:fs';
import { dts } from 'rollup-plugin-dts';

/** Matches a `/// <reference … />` and the end of its line. */
const REFERENCE = /^\/\/\/ <reference [^\n]*\n/gm;

/**
 * Moves the references of the modules of a bundle to its first lines: TypeScript ignores them
 * elsewhere, and then projects whose `lib` has no `ESNext.Disposable` lack `Symbol.dispose`.
 */
const referencesFirst = {
  name: 'references-first',
  /** @param {string} code */
  renderChunk: (code) => ({
    code: [...new Set(code.match(REFERENCE)), code.replace(REFERENCE, '')].join(''),
    map: null,
  }),
};

/** @type {{ exports: Readonly<Record<string, string | { types: string }>> }} */
const { exports } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

/** Names of the files of declarations, which are those of the entries but for one. */
const entries = Object.values(exports).flatMap((entry) =>
  typeof entry === 'string' ? [] : entry.types.replace(/^\.\/dist\/|\.d\.ts$/g, ''),
);

/**
 * Bundles the declarations that ship: one file for each entry, without `@internal` parts. Each
 * entry sees only the types that its tsconfig allows.
 *
 * @param {{ configTo?: string }} given the output folder, from `--configTo`
 */
export default ({ configTo = 'dist' }) =>
  entries.map((entry) => ({
    input: `src/${entry === 'webgpu-msm-worker' ? 'msm/cpu/worker' : entry}.ts`,
    output: { file: `${configTo}/${entry}.d.ts`, format: 'es' },
    plugins: [dts({ tsconfig: entry === 'node' ? 'tsconfig.node.json' : 'tsconfig.build.json' }), referencesFirst],
    external: [/^node:/],
  }));
