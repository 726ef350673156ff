/** npm run dev: see dev-server.ts, or --help. */
import { join } from 'node:path';
import { renderUnicodeCompact } from 'uqr';
import { project } from './builds.mjs';
import { runCommand } from './command-line.js';
import { command, parseOptions, withQuery } from './dev-server.js';

async function serve({ host, port, open, query, https }: ReturnType<typeof parseOptions>) {
  const { createServer } = await import('vite');
  const { default: basicSsl } = await import('@vitejs/plugin-basic-ssl');
  const server = await createServer({
    configFile: join(project, 'vite.config.ts'),
    // a cache of its own: two servers with different plugins would delete each other's cache
    ...(https ? { cacheDir: join(project, 'node_modules/.vite-https') } : {}),
    plugins: https ? [basicSsl({ name: 'webgpu-msm dev server' })] : [],
    server: {
      ...(host === undefined ? {} : { host }),
      ...(port === undefined ? {} : { port }),
      open: open && withQuery('http://page/', query).replace('http://page', ''),
    },
  });
  await server.listen();
  server.printUrls();
  const { local = [], network = [] } = server.resolvedUrls ?? {};
  const inNetwork = network[0];
  const say = server.config.logger.info;
  const address = inNetwork ?? local[0];
  if (query.size > 0 && address !== undefined) say(`  ➜  Bench:   ${withQuery(address, query)}`);
  if (inNetwork !== undefined) {
    const code = renderUnicodeCompact(withQuery(inNetwork, query), { border: 2 });
    // explicit colours: a scanner needs white and black, whatever the terminal's theme is
    say(`\n${process.stdout.isTTY ? code.replace(/^.*$/gm, '\x1b[97;40m$&\x1b[0m') : code}\n`);
    say(
      https
        ? 'The page uses https: browsers offer WebGPU to secure pages only, and http from another machine is not secure.\n' +
            'The certificate is self-signed, so the phone warns once: choose to continue to the page.'
        : 'http from another machine is not secure, and browsers offer WebGPU to secure pages only: it has no WebGPU there.',
    );
  } else if (host === true) say('This machine has no network address: the page opens on this machine only.');
  server.bindCLIShortcuts({ print: true });
}

const work = () => serve(parseOptions(process.argv.slice(2)));
await runCommand({ ...command, run: work }, work);
