import { runTypeScript } from './typescript.mjs';

await runTypeScript('scripts/dev.ts');
