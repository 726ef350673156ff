/** What each way of ending means: the exit code, and what to do about it. */
import { NoFirstProgressError, PageLostError, StalledError } from '../browser/watch-page.mjs';
import { ConnectionError, QueueTimeoutError } from './open-page.mjs';
import { EXIT } from './options.mjs';
import { AdapterError, RunFailedError } from './run.mjs';

/** The narrower kind of an error comes before the wider. @type {readonly [new (message: string) => Error, number, string][]} */
const endings = [
  [RunFailedError, EXIT.failed, ''],
  [
    AdapterError,
    EXIT.adapter,
    'Which browser and which flags it starts with, --browser and --launch say; a page that is neither https nor this machine’s has no WebGPU',
  ],
  [
    NoFirstProgressError,
    EXIT.noFirstProgress,
    'On a slow connection, raise --first-progress; else see whether the address is that of the bench page',
  ],
  [StalledError, EXIT.stalled, 'On a slow device, raise --stall or take a smaller size; else its GPU or its tab hangs'],
  [
    QueueTimeoutError,
    EXIT.queue,
    'A busy farm needs a larger --queue-timeout; else see whether the endpoint speaks Playwright’s protocol',
  ],
  [
    ConnectionError,
    EXIT.lost,
    'See whether the endpoint runs, has that browser, takes the token (--header), and is of this Playwright’s version',
  ],
  [
    PageLostError,
    EXIT.lost,
    'See whether the endpoint still runs and the device has memory left for this size; farms also end long sessions',
  ],
];

/** @param {unknown} error */
export function endingOf(error) {
  const message = error instanceof Error ? error.message : String(error);
  const [, code, advice] = endings.find(([kind]) => error instanceof kind) ?? [Error, EXIT.failed, ''];
  return { code, message, advice: advice && `${advice}.` };
}
