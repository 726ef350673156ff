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

/**
 * Bundles the declarations that ship: one file for each entry, without `@internal` parts. Each
 * entry sees only the types that its tsconfig allows.
 *
 * @param {{ configTo?: string }} given the output folder, from `--configTo`
 */
export default ({ configTo = 'dist' }) =>
  [
    { entry: 'index', tsconfig: 'tsconfig.build.json' },
    { entry: 'calibrate', tsconfig: 'tsconfig.build.json' },
    { entry: 'circom', tsconfig: 'tsconfig.build.json' },
    { entry: 'fields', tsconfig: 'tsconfig.build.json' },
    { entry: 'formats', tsconfig: 'tsconfig.build.json' },
    { entry: 'groth16', tsconfig: 'tsconfig.build.json' },
    { entry: 'plonk', tsconfig: 'tsconfig.build.json' },
    { entry: 'fflonk', tsconfig: 'tsconfig.build.json' },
    { entry: 'noble', tsconfig: 'tsconfig.build.json' },
    { entry: 'setup', tsconfig: 'tsconfig.build.json' },
    { entry: 'snarkjs', tsconfig: 'tsconfig.build.json' },
    { entry: 'snarkjs-drop-in', tsconfig: 'tsconfig.build.json' },
    { entry: 'service-worker', tsconfig: 'tsconfig.build.json' },
    { entry: 'node', tsconfig: 'tsconfig.node.json' },
    { entry: 'worker', tsconfig: 'tsconfig.build.json', from: 'msm/cpu/worker', file: 'webgpu-msm-worker' },
  ].map(({ entry, tsconfig, from = entry, file = entry }) => ({
    input: `src/${from}.ts`,
    output: { file: `${configTo}/${file}.d.ts`, format: 'es' },
    plugins: [dts({ tsconfig }), referencesFirst],
    external: [/^node:/],
  }));
