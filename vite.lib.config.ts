import { defineConfig } from 'vite';

/** The package: one ES module with the shaders inlined, and one of a few lines for Node. Their types come from tsconfig.build.json and tsconfig.node.json. */
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
    lib: {
      entry: { index: 'src/index.ts', node: 'src/node.ts' },
      formats: ['es'],
      fileName: (_, name) => `${name}.js`,
    },
    rolldownOptions: { external: [/^node:/, /^mustache(\/|$)/, /^@noble\/curves(\/|$)/] },
  },
});
