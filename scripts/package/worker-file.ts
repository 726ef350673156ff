import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build, type Plugin, type Rolldown } from 'vite';
import { smallScript } from './small-script.js';

const inProject = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** The module that knows where the worker is. */
const PLATFORM = inProject('src/cpu/platform.ts');

/** The worker in a file that needs no other, and its source map. */
const buildWorker = async (outDir: string): Promise<readonly { readonly name: string; readonly text: string }[]> => {
  const built = (await build({
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    plugins: [smallScript()],
    build: {
      outDir,
      write: false,
      target: 'es2022',
      sourcemap: true,
      minify: false,
      lib: { entry: inProject('src/cpu/worker.ts'), formats: ['es'], fileName: () => 'worker.js' },
      rolldownOptions: { output: { minify: false } },
    },
  })) as Rolldown.RolldownOutput[];
  return built
    .flatMap(({ output }) => output)
    .map((file) => ({ name: file.fileName, text: file.type === 'chunk' ? file.code : String(file.source) }));
};

/** The package has its worker beside it, as `worker.js`, and bundlers find it by its URL. */
export const workerFile = (): Plugin => {
  let outDir = '';
  return {
    name: 'worker-file',
    enforce: 'pre',
    configResolved({ root, build }) {
      outDir = resolve(root, build.outDir);
    },
    transform(code, id) {
      if (id !== PLATFORM) return null;
      // it is for those who bundle the package
      return { code: code.replace("'./worker.ts'", "/* @vite-ignore */ './worker.js'"), map: null };
    },
    async generateBundle() {
      for (const { name, text } of await buildWorker(outDir)) {
        this.emitFile({ type: 'asset', fileName: name, source: text });
      }
    },
  };
};

/** For tests, which run in Node what nobody built: the worker is built when it is first asked for. */
export const builtWorker = (): Plugin => {
  let url: Promise<string> | null = null;
  const write = async (): Promise<string> => {
    const folder = inProject('node_modules/.cache/webgpu-msm');
    mkdirSync(folder, { recursive: true });
    const { text = '' } = (await buildWorker(folder)).find(({ name }) => name === 'worker.js') ?? {};
    // several trees may have these modules in common, and each a worker of its own
    const path = join(folder, `worker-${createHash('sha256').update(text).digest('hex').slice(0, 16)}.mjs`);
    if (!existsSync(path)) writeFileSync(path, text);
    return pathToFileURL(path).href;
  };
  return {
    name: 'built-worker',
    enforce: 'pre',
    async transform(code, id) {
      if (id !== PLATFORM) return null;
      url ??= write();
      const beside = "import.meta.url.replace(/[^/]*$/, 'worker.js')";
      if (!code.includes(beside)) throw new Error(`${PLATFORM}: ${beside} is not there`);
      return { code: code.replace(beside, JSON.stringify(await url)), map: null };
    },
  };
};
