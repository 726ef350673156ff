/**
 * Plugins of the build that add files to the package: its workers, all of it for service workers, and
 * its command.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build as buildFile, type Plugin as EsbuildPlugin, transform } from 'esbuild';
import MagicString, { type SourceMap } from 'magic-string';
import { build, type Plugin, type Rolldown } from 'vite';
import { keptComments, shortLines } from './output-plugins.js';

const inProject = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** The module that starts the worker and has its address. */
const STARTER = inProject('src/msm/cpu/cpu-threads.ts');

/** The module that contains the worker's text. */
const TEXT = inProject('src/msm/cpu/worker-text.ts');

const NAME = 'webgpu-msm-worker.js';

/** Comment by which the build of the package leaves the address of a worker as it is. */
const IGNORE = '/* @vite-ignore */';

/** Returns a chunk without that comment, with which Vite would not bundle the worker for those who bundle the package. */
const withoutIgnore = (code: string, name: string): { code: string; map: SourceMap } | null => {
  const address = new RegExp(`${IGNORE.replaceAll('*', '\\*')}\\s*(?="\\./${name}")`);
  const [comment = ''] = address.exec(code) ?? [];
  if (comment === '') return null;
  const at = code.search(address);
  const changed = new MagicString(code).remove(at, at + comment.length);
  return { code: changed.toString(), map: changed.generateMap({ hires: 'boundary' }) };
};

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
      return { code: code.replace("'./worker.ts'", `${IGNORE} './${NAME}'`), map: null };
    },
    renderChunk: (code) => withoutIgnore(code, NAME),
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

/** The module that starts the worker of circuits. */
const CIRCUIT_STARTER = inProject('src/circom/circuit-worker.ts');

const CIRCUIT_WORKER = 'webgpu-msm-circuit-worker';

/** Name of the entry that the worker of circuits is built as, before it is one file. */
const CIRCUIT_ENTRY = 'circuit-worker';

/** Bundles built modules into one file without imports, by esbuild. */
const bundleInto = (outfile: string, contents: string, resolveDir: string, plugins: EsbuildPlugin[] = []) =>
  buildFile({
    stdin: { contents, resolveDir },
    outfile,
    plugins,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    legalComments: 'inline',
    lineLimit: 160,
    logLevel: 'warning',
  });

/**
 * Adds the worker of circuits to the package as one file, which starts from anywhere. esbuild makes
 * it of the built modules, most of the package, and takes the entry away.
 */
export const circuitWorkerFile = (): Plugin => ({
  name: 'circuit-worker-file',
  enforce: 'pre',
  transform(code, id) {
    if (id !== CIRCUIT_STARTER) return null;
    const address = "'./serve-circuit.ts'";
    if (!code.includes(address)) throw new Error(`${id}: ${address} is not there`);
    // only those who bundle the package resolve this URL
    return { code: code.replace(address, `${IGNORE} './${CIRCUIT_WORKER}.js'`), map: null };
  },
  renderChunk: (code) => withoutIgnore(code, `${CIRCUIT_WORKER}.js`),
  async writeBundle({ dir = '' }, bundle) {
    const entry = Object.values(bundle).find((file) => file.type === 'chunk' && file.name === CIRCUIT_ENTRY);
    if (entry === undefined) throw new Error(`the build has no entry ${CIRCUIT_ENTRY}`);
    await bundleInto(
      join(dir, `${CIRCUIT_WORKER}.js`),
      `import { serveCircuit } from './${entry.fileName}';\nserveCircuit();`,
      dir,
    );
    for (const name of [entry.fileName, `${entry.fileName}.map`]) rmSync(join(dir, name));
  },
});

/** Name of the entry that the command is built as, before it is one file with its library. */
const COMMAND_ENTRY = 'command-entry';

/** Folder of the sources of the command, and the entry for circuits as it imports it. */
const COMMAND_FOLDER = inProject('src/command/');
const CIRCUIT_PROVER = '../circom.js';

/** File that npm links as the command. */
const COMMAND = 'command.js';

/** First lines of the command. The library for arguments is CommonJS, and requires modules of Node. */
const commandStart = (): string => {
  const licence = readFileSync(inProject('node_modules/commander/LICENSE'), 'utf8').trim();
  return [
    '#!/usr/bin/env node',
    `/*! This file has the package commander:\n\n${licence}\n*/`,
    "import { createRequire as requireOf } from 'node:module';",
    'const require = requireOf(import.meta.url);',
  ].join('\n');
};

/** Adds the command: a file that has the library for arguments, and imports the modules beside it. */
export const commandFile = (): Plugin => ({
  name: 'command-file',
  enforce: 'pre',
  // as a file beside it, so that the command shares no part of it
  resolveId: (source, importer = '') =>
    source === CIRCUIT_PROVER && importer.startsWith(COMMAND_FOLDER) ? { id: './circom.js', external: true } : null,
  async writeBundle({ dir = '' }, bundle) {
    const entry = Object.values(bundle).find((file) => file.type === 'chunk' && file.name === COMMAND_ENTRY);
    if (entry === undefined) throw new Error(`the build has no entry ${COMMAND_ENTRY}`);
    const { outputFiles } = await buildFile({
      stdin: {
        contents: `import { run } from './${entry.fileName}';\nprocess.exitCode = await run(process.argv.slice(2));`,
        resolveDir: dir,
      },
      plugins: [besideExcept(entry.fileName)],
      nodePaths: [inProject('node_modules')],
      bundle: true,
      write: false,
      platform: 'node',
      format: 'esm',
      target: 'es2022',
      lineLimit: 160,
      logLevel: 'warning',
    });
    writeFileSync(join(dir, COMMAND), `${commandStart()}\n${outputFiles[0]?.text}`, { mode: 0o755 });
    for (const name of [entry.fileName, `${entry.fileName}.map`]) rmSync(join(dir, name));
  },
});

/** Leaves imports of the modules of the package as they are, but for one file. */
const besideExcept = (fileName: string): EsbuildPlugin => ({
  name: 'beside',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\/[\w-]+\.js$/ }, ({ path, importer }) =>
      path === `./${fileName}` || importer.includes('/node_modules/commander/') ? null : { path, external: true },
    );
  },
});

const SERVICE_WORKER = 'service-worker';

/** Entries that service workers cannot use, or that have names of other entries. */
const excluded = ['node', 'snarkjs-drop-in', CIRCUIT_ENTRY, COMMAND_ENTRY];

/** Names of one letter or two are for the other modules of the package. */
const isPublic = (name: string): boolean => name.length > 2;

/** Returns a module that exports the public names of an entry. */
const publicPart = ({ exports, fileName }: Rolldown.OutputChunk): string =>
  `export { ${exports.filter(isPublic).join(', ')} } from './${fileName}';`;

/**
 * Adds the package as one file without dynamic imports, which service workers forbid. It exports
 * what `src/service-worker.ts` says. esbuild makes it of the built modules, as one build of the
 * sources cannot have both.
 */
export const serviceWorkerFile = (): Plugin => ({
  name: 'service-worker-file',
  async writeBundle({ dir = '' }, bundle) {
    const entries = Object.values(bundle).filter((file) => file.type === 'chunk' && file.isEntry);
    const parts = new Map(
      (entries as Rolldown.OutputChunk[])
        .filter(({ name }) => !excluded.includes(name))
        .map((chunk) => [`public:${chunk.name}`, publicPart(chunk)]),
    );
    const publicParts: EsbuildPlugin = {
      name: 'public-parts',
      setup({ onResolve, onLoad }) {
        onResolve({ filter: /^public:/ }, ({ path }) => ({ path, namespace: 'public' }));
        onLoad({ filter: /./, namespace: 'public' }, ({ path }) => ({
          contents: parts.get(path) ?? '',
          resolveDir: dir,
        }));
      },
    };
    const lines = [...parts.keys()].map((part) => {
      const name = part.slice('public:'.length);
      return name === 'index' ? `export * from '${part}';` : `export * as ${name} from '${part}';`;
    });
    await bundleInto(join(dir, `${SERVICE_WORKER}.js`), lines.join('\n'), dir, [publicParts]);
  },
});
