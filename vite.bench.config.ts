import { defineConfig, type Plugin } from 'vite';
import { workerFile } from './scripts/package/worker-file.js';
import { wgslTemplates } from './scripts/templates/wgsl-templates.js';

/** Leaves scripts outside that find files by their own places, and that run without this build. */
const outside: Plugin = {
  name: 'outside',
  enforce: 'pre',
  resolveId(source) {
    const [path] = /(adapter\/[\w-]+|builds)\.mjs$/.exec(source) ?? [];
    return path === undefined ? null : { id: `../scripts/${path}`, external: true };
  },
};

/**
 * Builds the commands of scripts/ with the parts of dev/ that they use: a GPU host has Node, Dawn,
 * noble and the builds, and no vite.
 */
export default defineConfig({
  logLevel: 'warn',
  publicDir: false,
  // relative paths: the worker lies beside the module, and Node has no site root
  base: './',
  plugins: [outside, workerFile(), wgslTemplates()],
  // the package's worker is imported for its side effects
  worker: { rolldownOptions: { treeshake: false } },
  build: {
    outDir: 'dist-bench',
    emptyOutDir: true,
    target: 'es2022',
    minify: false,
    lib: {
      entry: {
        bench: 'scripts/commands.ts',
        'fault-worker': 'scripts/faults/worker.ts',
      },
      formats: ['es'],
      fileName: (_, name) => `${name}.js`,
    },
    rolldownOptions: {
      external: [/^node:/, /^(@noble\/curves|commander|playwright|typescript|vite|vitest)(\/|$)/],
      // the bench imports provers that the library imports when they are used
      checks: { ineffectiveDynamicImport: false, pluginTimings: false },
    },
  },
});
