import { defineConfig } from 'vite';

/** What benchmarks in Node measure a device with, as one file: a GPU host has Node, Dawn and what was built, and no vite. */
export default defineConfig({
  logLevel: 'warn',
  publicDir: false,
  build: {
    outDir: 'dist-bench',
    emptyOutDir: true,
    target: 'es2022',
    minify: false,
    lib: { entry: 'dev/field-bench/index.ts', formats: ['es'], fileName: () => 'field-bench.js' },
    rolldownOptions: { external: [/^mustache(\/|$)/, /^@noble\/curves(\/|$)/] },
  },
});
