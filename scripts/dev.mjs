/** npm run dev: see ./dev/options.mjs, or --help. */
import { fileURLToPath } from 'node:url';
import { asksForHelp, helpText, UsageError } from './command-line.mjs';
import { command, parseOptions } from './dev/options.mjs';
import { qrCode } from './dev/qr-code.mjs';
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
    say(`\n${qrCode(withQuery(inNetwork, query), process.stdout.isTTY)}\n`);
    say(
      https
        ? 'It is https because browsers offer WebGPU to secure pages only, and http from another machine is not secure.\n' +
            'The certificate is made here and nobody vouches for it, so the phone warns once: let it go on to the page.'
        : 'http from another machine is not secure, and browsers offer WebGPU to secure pages only: expect none there.',
    );
  } else if (host === true) say('This machine has no address in a network: only it itself can open the page.');
  server.bindCLIShortcuts({ print: true });
}

try {
  const args = process.argv.slice(2);
  if (asksForHelp(args)) console.log(helpText(command));
  else await serve(parseOptions(args));
} catch (error) {
  console.error(
    `dev: ${error instanceof Error ? error.message : error}${error instanceof UsageError ? '. See --help.' : ''}`,
  );
  process.exit(error instanceof UsageError ? 2 : 1);
}
