/** npm run dev: see ./dev/options.mjs, or --help. */
import { fileURLToPath } from 'node:url';
import { renderUnicodeCompact } from 'uqr';
import { runCommand } from './command-line.mjs';
import { command, parseOptions } from './dev/options.mjs';
import { withQuery } from './page-query.mjs';

/** @param {ReturnType<typeof parseOptions>} options */
async function serve({ host, port, open, query, https }) {
  const { createServer } = await import('vite');
  const { default: basicSsl } = await import('@vitejs/plugin-basic-ssl');
  const server = await createServer({
    configFile: fileURLToPath(new URL('../vite.config.ts', import.meta.url)),
    // With another plugin its own, as two servers whose settings differ would each throw the other's away.
    ...(https ? { cacheDir: fileURLToPath(new URL('../node_modules/.vite-https', import.meta.url)) } : {}),
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
    // light is white and dark black on a terminal, whatever its own colours are
    say(`\n${process.stdout.isTTY ? code.replace(/^.*$/gm, '\x1b[97;40m$&\x1b[0m') : code}\n`);
    say(
      https
        ? 'It is https because browsers offer WebGPU to secure pages only, and http from another machine is not secure.\n' +
            'The certificate is made here and nobody vouches for it, so the phone warns once: let it go on to the page.'
        : 'http from another machine is not secure, and browsers offer WebGPU to secure pages only: expect none there.',
    );
  } else if (host === true) say('This machine has no address in a network: only it itself can open the page.');
  server.bindCLIShortcuts({ print: true });
}

await runCommand(command, () => serve(parseOptions(process.argv.slice(2))));
