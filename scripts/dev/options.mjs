/** The command line of `npm run dev`. */
import { anyText, flag, integer, readArguments, valued } from '../command-line.mjs';
import { pageOptions, readQuery } from '../page-query.mjs';

export const command = {
  usage: `usage: npm run dev -- [options]

Serves the bench page, and keeps the rows of its runs in dev/results (or the folder WEBGPU_MSM_RESULTS).`,
  options: {
    host: valued(
      '[address]',
      `serve it in the local network too, over https, and print a QR code for a phone; the address says
      which of this machine's, without one it is all of them`,
      anyText,
    ),
    http: flag("with --host: plain http, where browsers other than this machine's have no WebGPU"),
    port: valued('5173', 'the next free one when it is taken', integer(0, 65_535)),
    open: flag('open a browser'),
    ...pageOptions,
  },
};

/**
 * @param {string[]} args
 * @throws import('../command-line.mjs').UsageError
 */
export function parseOptions(args) {
  const { values, words } = readArguments(command.options, namingEveryHost(args));
  const { host: text, http, port, open } = values;
  const host = text === '' ? true : text;
  // Only on this machine itself is http enough for WebGPU.
  return { host, port, open, query: readQuery(values, words), https: host !== undefined && !isLoopback(host) && !http };
}

/**
 * `--host` alone stands for every address of this machine, but an option of parseArgs has a value or has none.
 *
 * @param {string[]} args
 */
function namingEveryHost(args) {
  return args.map((arg, index) => {
    const next = args[index + 1];
    return arg === '--host' && (next === undefined || next.startsWith('-')) ? '--host=' : arg;
  });
}

/** @param {string | true} host */
const isLoopback = (host) => host !== true && /^(localhost|.*\.localhost|127(\.\d+){3}|\[?::1\]?)$/.test(host);
