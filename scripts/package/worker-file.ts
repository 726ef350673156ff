import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transform } from 'esbuild';
import { build, type Plugin, type Rolldown } from 'vite';
import { keptComments, shortLines } from './short-lines.js';

const inProject = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** The module that starts the worker and has its address. */
const STARTER = inProject('src/msm/cpu/cpu-threads.ts');

/** The module that contains the worker's text. */
const TEXT = inProject('src/msm/cpu/worker-text.ts');

const NAME = 'webgpu-msm-worker.js';

/** Builds the worker as one file without imports, and its source map. */
const buildWorker = async (outDir: string): Promise<readonly { readonly name: string; readonly text: string }[]> => {
  const built = (await build({
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    plugins: [shortLines()],
    build: {
      outDir,
      write: false,
      target: 'es2022',
      sourcemap: true,
      minify: false,
      lib: { entry: inProject('src/msm/cpu/worker.ts'), formats: ['es'], fileName: () => NAME },
      rolldownOptions: { checks: { bundlerTimings: false }, output: { minify: false, comments: keptComments } },
    },
  })) as Rolldown.RolldownOutput[];
  return built
    .flatMap(({ output }) => output)
    .map((file) => ({ name: file.fileName, text: file.type === 'chunk' ? file.code : String(file.source) }));
};

/** Returns the script that `buildWorker` built, without the comment that names its source map. */
const scriptOf = (files: Awaited<ReturnType<typeof buildWorker>>): string => {
  const { text = '' } = files.find(({ name }) => name === NAME) ?? {};
  return text.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '');
};

/** Columns after which a line of the worker's text ends where JavaScript lets it. */
const TEXT_COLUMNS = 320;

/** Returns a module that exports a script, minified: bundlers leave texts as they are. */
const textModule = async (script: string): Promise<string> => {
  const options = { format: 'esm', target: 'es2022', minify: true, lineLimit: TEXT_COLUMNS } as const;
  const { code } = await transform(script, options);
  return `export const workerText = ${JSON.stringify(code)};`;
};

/**
 * Adds the worker to the package, twice: as a file, which bundlers find by its URL, and as a module
 * with its text, which is loaded where the file is not found.
 */
export const workerFile = (): Plugin => {
  let outDir = '';
  let built: ReturnType<typeof buildWorker> | null = null;
  const files = () => {
    built ??= buildWorker(outDir);
    return built;
  };
  return {
    name: 'worker-file',
    enforce: 'pre',
    configResolved({ root, build }) {
      outDir = resolve(root, build.outDir);
    },
    async transform(code, id) {
      if (id === TEXT) return { code: await textModule(scriptOf(await files())), map: null };
      if (id !== STARTER) return null;
      // only those who bundle the package resolve this URL
      return { code: code.replace("'./worker.ts'", `/* @vite-ignore */ './${NAME}'`), map: null };
    },
    async generateBundle() {
      for (const { name, text } of await files()) {
        this.emitFile({ type: 'asset', fileName: name, source: text });
      }
    },
  };
};

/** Builds the worker for tests, which run the sources in Node; it is built on first use. */
export const builtWorker = (): Plugin => {
  let url: Promise<string> | null = null;
  const write = async (): Promise<string> => {
    const folder = inProject('node_modules/.cache/webgpu-msm');
    mkdirSync(folder, { recursive: true });
    const text = scriptOf(await buildWorker(folder));
    // worktrees may share node_modules, and each has its own worker
    const path = join(folder, `worker-${createHash('sha256').update(text).digest('hex').slice(0, 16)}.mjs`);
    if (!existsSync(path)) writeFileSync(path, text);
    return pathToFileURL(path).href;
  };
  return {
    name: 'built-worker',
    enforce: 'pre',
    async transform(code, id) {
      if (id !== STARTER) return null;
      url ??= write();
      const beside = `import.meta.url.replace(/[^/]*$/, '${NAME}')`;
      if (!code.includes(beside)) throw new Error(`${STARTER}: ${beside} is not there`);
      return { code: code.replace(beside, JSON.stringify(await url)), map: null };
    },
  };
};
