import { defineConfig } from 'vite';

export default defineConfig({
  // the worker and the workers that it starts are modules
  worker: { format: 'es' },
});
