/** The dev page: `npm run dev`. The library itself is built by vite.lib.config.ts. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { rowLog } from './dev/server/row-log.js';
import { commit } from './scripts/builds.mjs';
import { wgslTemplates } from './scripts/templates/wgsl-templates.js';

const inProject = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Cross-origin isolation: the page's clock then ticks in steps of 5 µs instead of 100 µs. */
const headers = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

/** Where the rows of runs are kept; tests name a folder of their own, as they are no results. */
const results = process.env.WEBGPU_MSM_RESULTS || inProject('dev/results');

export default defineConfig({
  root: inProject('dev'),
  base: './',
  publicDir: false,
  // stands in the record of every run
  define: { BENCH_COMMIT: JSON.stringify(commit() ?? '') },
  plugins: [wgslTemplates(), rowLog(results)],
  // the worker of the package is imported for what it does
  worker: { rolldownOptions: { treeshake: false } },
  server: {
    headers,
    fs: { allow: [inProject('.')] },
    watch: { ignored: ['**/dev/results/**'] },
  },
  preview: { headers },
  optimizeDeps: {
    // Named, because a dependency that is found late reloads the page in the middle of a run.
    include: ['@noble/curves/bn254.js', '@noble/curves/abstract/curve.js', '@noble/curves/utils.js'],
  },
  build: {
    outDir: inProject('dist-page'),
    emptyOutDir: true,
    target: 'es2022',
    // of one page that is read by who measures: vite warns above 500 KB
    chunkSizeWarningLimit: 600,
  },
});
