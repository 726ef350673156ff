import { defineConfig } from 'vite';

export default defineConfig({
  // the workers that the package starts are modules
  worker: { format: 'es' },
});
