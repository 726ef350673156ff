import { defineConfig } from 'vite';
import { keptComments, noSideEffects, quietStructs, shortLines, smallWgsl } from './scripts/package/output-plugins.js';
import { circuitWorkerFile, commandFile, serviceWorkerFile, workerFile } from './scripts/package/worker-file.js';
import { wgslTemplates } from './scripts/templates/wgsl-templates.js';

/**
 * Builds the package: an ES module for each entry, and the worker. `index.js` loads parts that not
 * every program needs, such as further curves and encodings, by dynamic imports. Other entries
 * import what they share with it from `index.js`. scripts/package/types.config.mjs makes the types.
 */
export default defineConfig({
  // prints warnings only: `npm start` builds before it prints its table
  logLevel: 'warn',
  publicDir: false,
  plugins: [
    workerFile(),
    smallWgsl(),
    wgslTemplates(),
    quietStructs(),
    shortLines(),
    noSideEffects(),
    serviceWorkerFile(),
    circuitWorkerFile(),
    commandFile(),
  ],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    // all browsers with WebGPU support it, and Node 20
    target: 'es2022',
    sourcemap: true,
    lib: {
      entry: {
        index: 'src/index.ts',
        calibrate: 'src/calibrate.ts',
        circom: 'src/circom.ts',
        // the worker of circuits, of which `circuitWorkerFile` makes one file
        'circuit-worker': 'src/circom/serve-circuit.ts',
        // the command, of which `commandFile` makes one file with its library for arguments
        'command-entry': 'src/command.ts',
        fields: 'src/fields.ts',
        formats: 'src/formats.ts',
        groth16: 'src/groth16.ts',
        plonk: 'src/plonk.ts',
        fflonk: 'src/fflonk.ts',
        noble: 'src/noble.ts',
        node: 'src/node.ts',
        setup: 'src/setup.ts',
        snarkjs: 'src/snarkjs.ts',
        'snarkjs-drop-in': 'src/snarkjs-drop-in.ts',
      },
      formats: ['es'],
      fileName: (_, name) => `${name}.js`,
    },
    minify: false,
    rolldownOptions: {
      external: [/^node:/, 'commander'],
      // a busy machine would print times that concern nobody
      checks: { bundlerTimings: false },
      // Code that index.js shares with other files stays in index.js, which exports it to them
      // under short names. So a program that imports index.js alone fetches one file.
      preserveEntrySignatures: 'allow-extension',
      output: {
        minify: false,
        comments: keptComments,
        chunkFileNames: '[name].js',
        // index.js has all that it imports; vectors.js, cpu-backend.js and setup.js share the second,
        // cpu-backend.js and setup.js the third, groth16.js, plonk.js, fflonk.js and setup.js the
        // fourth, snarkjs.js and snarkjs-drop-in.js the fifth, snarkjs-drop-in.js and the command the
        // sixth, circom.js and its worker the seventh, plonk.js, fflonk.js and setup.js the last
        codeSplitting: {
          includeDependenciesRecursively: false,
          groups: [
            { name: 'index', test: /\/src\/index\.ts$/, includeDependenciesRecursively: true },
            { name: 'arithmetic', test: /\/src\/(wasm\/(?!vectors\/)|scheduling\/turn-queue)/, minShareCount: 2 },
            { name: 'threads', test: /\/src\/(threads\/|msm\/cpu\/(adder|cpu-threads))/, minShareCount: 2 },
            { name: 'proofs', test: /\/src\/proofs\/(?!plonkish\/)/, minShareCount: 2 },
            { name: 'provers', test: /\/src\/provers\//, minShareCount: 2 },
            // alone, since setup.js loads it without the verifiers of proofs
            { name: 'exported-key', test: /\/src\/verifiers\/exported-key/, minShareCount: 2 },
            { name: 'verifiers', test: /\/src\/verifiers\//, minShareCount: 2 },
            { name: 'circuit', test: /\/src\/circom\//, minShareCount: 2 },
            {
              name: 'formats',
              test: /\/src\/formats(\/(source|binfile|zkey|key-cache|file-origin|reference-strings|compact-source|pack-zkey)|\.ts$)/,
            },
            // code that fields.js and compact-chunks.js share
            { name: 'vectors', test: /\/src\/(fields\/(cpu|program)|wasm\/vectors)\//, minShareCount: 2 },
            { name: 'compact-chunks', test: /\/src\/formats\/(compact-(chunks|file)|point-roots)/ },
            // The command imports more of these than their entries export. A group that lacks a module that
            // its entry alone reaches would become a file beside the entry.
            {
              name: 'groth16',
              test: /\/src\/(groth16(\/(?!streamed-quotient|prepared-matrices)|\.ts$)|proofs\/key-points)/,
            },
            { name: 'plonk', test: /\/src\/plonk(\/|\.ts$)/ },
            { name: 'fflonk', test: /\/src\/fflonk(\/|\.ts$)/ },
            // without what a setup on a GPU loads, and what the import of a response loads
            {
              name: 'setup',
              test: /\/src\/(setup(\/(?!open-scaler|point-decompressor)|\.ts$)|curves\/halving|msm\/cpu\/(point-(multiples|sums)|sum-threads))/,
            },
            { name: 'plonkish', test: /\/src\/proofs\/plonkish\//, minShareCount: 2 },
          ],
        },
      },
    },
  },
});
