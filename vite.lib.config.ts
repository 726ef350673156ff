import { defineConfig } from 'vite';
import { noSideEffects } from './scripts/package/no-side-effects.js';
import { quietStructs } from './scripts/package/quiet-structs.js';
import { smallScript } from './scripts/package/small-script.js';
import { smallWgsl } from './scripts/package/small-wgsl.js';
import { workerFile } from './scripts/package/worker-file.js';
import { wgslTemplates } from './scripts/templates/wgsl-templates.js';

/**
 * The package: one ES module with all that it needs inside, but for self-test and verification, which it loads when they are due, and curves besides BN254, which it loads when one is asked for; one that calibrates and has the engine from there,  one that reads files of provers, one of a few lines for Node, and the
 * worker that threads run, which needs no other. Their types come from scripts/package/types.config.mjs.
 */
export default defineConfig({
  // Silent when all is well: `npm start` builds before it prints its table.
  logLevel: 'warn',
  publicDir: false,
  plugins: [workerFile(), smallWgsl(), wgslTemplates(), quietStructs(), smallScript(), noSideEffects()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    // WebGPU's browsers all have it; Node 20 as well.
    target: 'es2022',
    sourcemap: true,
    lib: {
      entry: {
        index: 'src/index.ts',
        calibrate: 'src/calibrate.ts',
        formats: 'src/formats.ts',
        noble: 'src/noble.ts',
        node: 'src/node.ts',
        snarkjs: 'src/snarkjs.ts',
      },
      formats: ['es'],
      fileName: (_, name) => `${name}.js`,
    },
    // by smallScript
    minify: false,
    rolldownOptions: {
      external: [/^node:/],
      // What index.js shares with calibrate.js, formats.js and later.js stays in index.js, which exports it by a letter or two, for these alone: who wants
      // nothing else fetches one file, and nobody anything twice.
      preserveEntrySignatures: 'allow-extension',
      output: { minify: false, chunkFileNames: '[name].js' },
    },
  },
});
