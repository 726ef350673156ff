/** A server of a page of examples/, with the package as it is built. */
import { createServer } from 'vite';
import { builtLibrary } from './build-library.js';
import { inProject } from './run-script.js';

export interface ExampleServer {
  readonly origin: string;
  close(): Promise<void>;
}

/** Serves examples/NAME/. */
export const serveExample = async (name: string): Promise<ExampleServer> => {
  const library = await builtLibrary();
  const server = await createServer({
    configFile: inProject(`examples/${name}/vite.config.ts`),
    root: inProject(`examples/${name}`),
    cacheDir: inProject(`node_modules/.vite-${name}`),
    resolve: {
      alias: [
        { find: /^webgpu-msm$/, replacement: `${library}/index.js` },
        { find: /^webgpu-msm\/(.+)$/, replacement: `${library}/$1.js` },
      ],
    },
    server: { host: '127.0.0.1', port: 0, hmr: false, watch: null, fs: { allow: [inProject('.')] } },
    logLevel: 'error',
  });
  await server.listen();
  const address = server.httpServer?.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  return { origin: `http://127.0.0.1:${address.port}/`, close: () => server.close() };
};
