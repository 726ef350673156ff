import { runTypeScript } from '../typescript.mjs';

await runTypeScript('scripts/docs/site.ts');
