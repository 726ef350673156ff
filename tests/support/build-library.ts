import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Rolldown } from 'vite';
import { madeOnce } from './made-once.js';
import { inProject } from './run-script.js';

/** Sources of the modules. */
export const LIBRARY_SOURCES = ['src', 'wgsl', 'scripts/package', 'scripts/templates', 'vite.lib.config.ts'];

/** A module of a build, and the modules that it imports. */
export type BuiltModule = Pick<Rolldown.OutputChunk, 'fileName' | 'code' | 'imports' | 'dynamicImports'>;

/** Further entries of a build, by name: paths of what is in src/ and not in the package, or in tests/support/. */
type Entries = Readonly<Record<string, string>>;

/** Entries with which tests make kernels by the built package. */
export const withKernels: Entries = {
  kernels: 'tests/support/all-kernels.ts',
  quadratic: 'src/field/quadratic.ts',
};

const made = (more: Entries): Promise<string> => {
  const others = Object.keys(more).length > 0 ? ['dev/checks', ...Object.values(more)] : [];
  return madeOnce('library', [...LIBRARY_SOURCES, ...others], { more }, async (folder) => {
    const entry = Object.fromEntries(Object.entries(more).map(([name, path]) => [name, inProject(path)]));
    const built = await build({
      configFile: inProject('vite.lib.config.ts'),
      build: { outDir: join(folder, 'dist'), lib: { entry } },
      logLevel: 'error',
    });
    const modules = (built as Rolldown.RolldownOutput[]).flatMap(({ output }) =>
      output
        .filter((file) => file.type === 'chunk')
        .map(({ fileName, code, imports, dynamicImports }) => ({ fileName, code, imports, dynamicImports })),
    );
    writeFileSync(join(folder, 'modules.json'), JSON.stringify(modules));
  });
};

/**
 * Returns a folder with the library as `npm run build` builds it, without the types. Nobody may change it. It is not
 * `dist/`, which `npm test` must neither need nor change.
 */
export const builtLibrary = async (more: Entries = {}): Promise<string> => join(await made(more), 'dist');

/** Writes the library into a folder, as `npm run build` builds it, without the types. */
export const buildLibrary = async (outDir: string): Promise<BuiltModule[]> => {
  const folder = await made({});
  cpSync(join(folder, 'dist'), outDir, { recursive: true });
  return JSON.parse(readFileSync(join(folder, 'modules.json'), 'utf8'));
};
