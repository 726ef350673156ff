/** The command line of `npm run dev`. */
import { parseInteger } from '../command-line.mjs';
import { parseWithQuery } from '../page-query.mjs';

export const usage = `npm run dev -- [options]

Serves the bench page, and keeps the rows of its runs in dev/results (or the folder WEBGPU_MSM_RESULTS).

  --host [address]   serve it in the local network too, over https, and print a QR code for a phone; the address says
                     which of this machine's, without one it is all of them
  --http             with --host: plain http, where browsers other than this machine's have no WebGPU
  --port 5173        the next free one when it is taken
  --autorun MODE     what the printed addresses run, such as msm-bench
  --query k=v k=v …  the page's knobs; may be given again
  --open             open a browser
  --help

A phone in the same network that scans
  npm run dev -- --host --autorun msm-bench --query logn=12,14 reps=5
runs that, and its rows are kept here.`;

/**
 * @param {string[]} args
 * @throws import('../command-line.mjs').UsageError
 */
export function parseOptions(args) {
  const { values, query } = parseWithQuery(
    {
      host: { type: 'string' },
      http: { type: 'boolean', default: false },
      port: { type: 'string' },
      open: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
    namingEveryHost(args),
  );
  if (values.help) return 'help';
  const host = values.host === '' ? true : values.host;
  return {
    host,
    port: values.port === undefined ? undefined : parseInteger('port', values.port, 0, 65_535),
    open: values.open,
    query,
    // Only on this machine itself is http enough for WebGPU.
    https: host !== undefined && !isLoopback(host) && !values.http,
  };
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
