import { defineConfig } from 'vite';

/** What benchmarks in Node measure a device with, and what they measure targets with: a GPU host has Node, Dawn and what was built, and no vite. */
export default defineConfig({
  logLevel: 'warn',
  publicDir: false,
  build: {
    outDir: 'dist-bench',
    emptyOutDir: true,
    target: 'es2022',
    minify: false,
    lib: {
      entry: {
        bench: 'dev/bench/index.ts',
        'field-bench': 'dev/field-bench/index.ts',
        targets: 'dev/targets/index.ts',
      },
      formats: ['es'],
      fileName: (_, name) => `${name}.js`,
    },
    rolldownOptions: { external: [/^mustache(\/|$)/, /^@noble\/curves(\/|$)/] },
  },
});
