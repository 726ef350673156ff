import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig, type Plugin } from 'vite';

const project = join(import.meta.dirname, '../..');

const readmeProgram = (): string => {
  const blocks = readFileSync(join(project, 'README.md'), 'utf8').matchAll(/^```js\n([\s\S]*?)^```$/gm);
  for (const [, program = ''] of blocks) if (program.includes('createMsmEngine')) return program;
  throw new Error('README.md has no program with createMsmEngine');
};

const readme: Plugin = {
  name: 'readme',
  resolveId: (id) => (id === 'virtual:readme' ? '\0readme' : null),
  load: (id) => (id === '\0readme' ? readmeProgram() : null),
};

export default defineConfig({
  root: import.meta.dirname,
  plugins: [readme],
  resolve: {
    alias: [
      { find: /^webgpu-msm$/, replacement: join(project, 'dist/index.js') },
      { find: /^webgpu-msm\/(.*)$/, replacement: join(project, 'dist/$1.js') },
    ],
  },
  // the program of the README awaits at its top level
  build: { target: 'es2022' },
  worker: { format: 'es' },
});
