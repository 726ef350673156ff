import { defineConfig } from 'vite';

export default defineConfig({
  // the worker is a module, and so are those that it starts
  worker: { format: 'es' },
});
