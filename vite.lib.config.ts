import { defineConfig } from 'vite';
import { inlinedMustache } from './scripts/package/inlined-mustache.js';
import { noSideEffects } from './scripts/package/no-side-effects.js';
import { quietStructs } from './scripts/package/quiet-structs.js';
import { smallScript } from './scripts/package/small-script.js';
import { smallWgsl } from './scripts/package/small-wgsl.js';

/** The package: one ES module with all that it needs inside, and one of a few lines for Node. Their types come from scripts/package/types.config.mjs. */
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
