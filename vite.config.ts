/** Configures the dev page (`npm run dev`). vite.lib.config.ts builds the library. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { rowLog } from './dev/server/row-log.js';
import { commit } from './scripts/builds.mjs';
import { wgslTemplates } from './scripts/templates/wgsl-templates.js';

const inProject = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Cross-origin isolation: it makes the page's clock tick in steps of 5 µs instead of 100 µs. */
const headers = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

/** Folder for the rows of runs. Tests set a folder of their own, as their rows are no results. */
const results = process.env.WEBGPU_MSM_RESULTS || inProject('dev/results');

export default defineConfig({
  root: inProject('dev'),
  base: './',
  publicDir: false,
  // every run's record contains the commit
  define: { BENCH_COMMIT: JSON.stringify(commit() ?? '') },
  plugins: [wgslTemplates(), rowLog(results)],
  // the package's worker is imported for its side effects
  worker: { rolldownOptions: { treeshake: false } },
  server: {
    headers,
    fs: { allow: [inProject('.')] },
    watch: { ignored: ['**/dev/results/**'] },
  },
  preview: { headers },
  optimizeDeps: {
    // listed here, because a dependency that vite finds late reloads the page during a run
    include: [
      '@noble/curves/bn254.js',
      '@noble/curves/abstract/curve.js',
      '@noble/curves/utils.js',
      '@observablehq/plot',
    ],
  },
  build: {
    outDir: inProject('dist-page'),
    emptyOutDir: true,
    target: 'es2022',
    // vite warns above 500 KB by default, which does not matter for a page of measurements
    chunkSizeWarningLimit: 1200,
    // the bench imports provers that the library imports when they are used
    rolldownOptions: { checks: { ineffectiveDynamicImport: false, pluginTimings: false } },
  },
});
