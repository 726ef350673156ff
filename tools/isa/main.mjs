import { runTypeScript } from '../../scripts/typescript.mjs';

await runTypeScript('tools/isa/main.ts');
