import { build, type Rolldown } from 'vite';
import { inProject } from './run-script.js';

/**
 * Builds the library as `npm run build` does, without the types.
 *
 * @param more further entries, by name: what is in src/ and not in the package
 */
export const buildLibrary = async (
  outDir: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Rolldown.OutputChunk[]> => {
  const built = await build({
    configFile: inProject('vite.lib.config.ts'),
    build: {
      outDir,
      lib: { entry: Object.fromEntries(Object.entries(more).map(([name, path]) => [name, inProject(path)])) },
    },
    logLevel: 'error',
  });
  return (built as Rolldown.RolldownOutput[]).flatMap(({ output }) => output.filter((file) => file.type === 'chunk'));
};
