/** Exit codes and advice for each way in which a remote run ends. */
import { NoFirstProgressError, PageLostError, StalledError } from '../browser/watch-page.mjs';
import { ConnectionError, QueueTimeoutError } from './open-page.mjs';
import { EXIT } from './options.mjs';
import { AdapterError, RunFailedError } from './run.mjs';

/**
 * Error class, exit code and advice; a subclass stands before its base class.
 *
 * @type {readonly [new (message: string) => Error, number, string][]}
 */
const endings = [
  [RunFailedError, EXIT.failed, ''],
  [
    AdapterError,
    EXIT.adapter,
    'Use --browser and --launch to choose the browser and its flags. A page that is neither https nor on this machine has no WebGPU',
  ],
  [
    NoFirstProgressError,
    EXIT.noFirstProgress,
    'On a slow connection, raise --first-progress. Otherwise check that the address is that of the bench page',
  ],
  [
    StalledError,
    EXIT.stalled,
    'On a slow device, raise --stall or use a smaller size. Otherwise its GPU or its tab hangs',
  ],
  [
    QueueTimeoutError,
    EXIT.queue,
    'On a busy farm, raise --queue-timeout. Otherwise check that the endpoint speaks Playwright’s protocol',
  ],
  [
    ConnectionError,
    EXIT.lost,
    'Check that the endpoint runs, has that browser, accepts the token (--header), and has this Playwright’s version',
  ],
  [
    PageLostError,
    EXIT.lost,
    'Check that the endpoint still runs and that the device has memory for this size. Farms also end long sessions',
  ],
];

/** Returns exit code, message and advice for an error. @param {unknown} error */
export function endingOf(error) {
  const message = error instanceof Error ? error.message : String(error);
  const [, code, advice] = endings.find(([kind]) => error instanceof kind) ?? [Error, EXIT.failed, ''];
  return { code, message, advice: advice && `${advice}.` };
}
