import { defineConfig } from 'vite';
import { inlinedMustache } from './build/inlined-mustache.js';
import { noSideEffects } from './build/no-side-effects.js';
import { quietStructs } from './build/quiet-structs.js';
import { smallScript } from './build/small-script.js';
import { smallWgsl } from './build/small-wgsl.js';

/** The package: one ES module with all that it needs inside, and one of a few lines for Node. Their types come from rollup.types.config.mjs. */
export default defineConfig({
  // Silent when all is well: `npm start` builds before it prints its table.
  logLevel: 'warn',
  publicDir: false,
  plugins: [smallWgsl(), quietStructs(), inlinedMustache(), smallScript(), noSideEffects()],
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    // WebGPU's browsers all have it; Node 20 as well.
    target: 'es2022',
    sourcemap: true,
    lib: {
      entry: { index: 'src/index.ts', node: 'src/node.ts' },
      formats: ['es'],
      fileName: (_, name) => `${name}.js`,
    },
    // by smallScript
    minify: false,
    rolldownOptions: { external: [/^node:/], output: { minify: false } },
  },
});
