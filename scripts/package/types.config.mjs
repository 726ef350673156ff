import { dts } from 'rollup-plugin-dts';

/**
 * The declarations that ship: one file an entry, without what is `@internal`. Each entry sees no more than what its tsconfig lets it.
 *
 * @param {{ configTo?: string }} given where they go, by `--configTo`
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
