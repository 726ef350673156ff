import { defineConfig } from 'vite';

/** The package: one ES module with the shaders inlined. Its types come from tsconfig.build.json. */
export default defineConfig({
  // Silent when all is well: `npm start` builds before it prints its table.
  logLevel: 'warn',
  publicDir: false,
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    // WebGPU's browsers all have it; Node 20 as well.
    target: 'es2022',
    sourcemap: true,
    minify: false,
    lib: { entry: 'src/index.ts', formats: ['es'], fileName: () => 'index.js' },
    rolldownOptions: { external: [/^mustache(\/|$)/, /^@noble\/curves(\/|$)/] },
  },
});
