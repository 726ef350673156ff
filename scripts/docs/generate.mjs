import { runTypeScript } from '../typescript.mjs';

await runTypeScript('scripts/docs/generate.ts');
