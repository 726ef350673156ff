/** A worker as a process of its own, on this machine. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * @param {string} database its address
 * @param {Record<string, string | number>} options of worker-process.js, without their dashes
 * @param {(event: import('./worker.js').WorkerEvent) => void} onEvent
 * @returns {import('node:child_process').ChildProcess} which ends with this process, if not before
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
