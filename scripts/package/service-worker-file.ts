import { join } from 'node:path';
import { build, type Plugin as EsbuildPlugin } from 'esbuild';
import type { Plugin, Rolldown } from 'vite';

const NAME = 'service-worker';

/** Entries that service workers cannot use. */
const excluded = ['node'];

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
    await build({
      stdin: { contents: lines.join('\n'), resolveDir: dir },
      outfile: join(dir, `${NAME}.js`),
      plugins: [publicParts],
      bundle: true,
      format: 'esm',
      target: 'es2022',
      legalComments: 'inline',
      lineLimit: 160,
      logLevel: 'warning',
    });
  },
});
