/** The command line of `npm run dev`. */
import { anyText, flag, integer, readArguments, valued } from '../command-line.js';
import { pageOptions, readQuery } from '../page-query.js';

export const command = {
  usage: `usage: npm run dev -- [options]

Serves the bench page and stores the rows of its runs in dev/results (or in the folder WEBGPU_MSM_RESULTS).`,
  options: {
    host: valued(
      '[address]',
      `serve it in the local network too, over https, and print a QR code for a phone; with an address, only on
      that address of this machine`,
      anyText,
    ),
    http: flag('with --host: plain http; browsers on other machines then have no WebGPU'),
    port: valued('5173', 'the port; if it is taken, the next free one', integer(0, 65_535)),
    open: flag('open a browser'),
    ...pageOptions,
  },
};

/**
 * Reads the arguments as the settings of the server and the page's query.
 *
 * @throws UsageError
 */
export function parseOptions(args: string[]) {
  const { values, words } = readArguments(command.options, args);
  const { host: text, http, port, open } = values;
  const host = text === '' ? true : text;
  // browsers count http as secure on their own machine only
  return { host, port, open, query: readQuery(values, words), https: host !== undefined && !isLoopback(host) && !http };
}

const isLoopback = (host: string | true) =>
  host !== true && /^(localhost|.*\.localhost|127(\.\d+){3}|\[?::1\]?)$/.test(host);
