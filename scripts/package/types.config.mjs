import { dts } from 'rollup-plugin-dts';

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
    { entry: 'formats', tsconfig: 'tsconfig.build.json' },
    { entry: 'noble', tsconfig: 'tsconfig.build.json' },
    { entry: 'snarkjs', tsconfig: 'tsconfig.build.json' },
    { entry: 'node', tsconfig: 'tsconfig.node.json' },
    { entry: 'worker', tsconfig: 'tsconfig.build.json', from: 'msm/cpu/worker', file: 'webgpu-msm-worker' },
  ].map(({ entry, tsconfig, from = entry, file = entry }) => ({
    input: `src/${from}.ts`,
    output: { file: `${configTo}/${file}.d.ts`, format: 'es' },
    plugins: [dts({ tsconfig })],
    external: [/^node:/],
  }));
