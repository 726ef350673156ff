/** Starts a worker as a process on this machine. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * @param {string} database address of the database
 * @param {Record<string, string | number>} options options of worker-process.js, without their
 *   dashes
 * @param {(event: import('./worker.js').WorkerEvent) => void} onEvent
 * @returns {import('node:child_process').ChildProcess} a process that ends no later than this one
 */
export function startWorker(database, options, onEvent) {
  const program = fileURLToPath(new URL('worker-process.js', import.meta.url));
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const worker = spawn(process.execPath, [program, ...args], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, FARM_DATABASE: database },
  });
  worker.on('message', (event) => onEvent(/** @type {import('./worker.js').WorkerEvent} */ (event)));
  return worker;
}
