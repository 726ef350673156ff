/** A thread of the pool: the package's `webgpu-msm-worker.js`, which needs nothing else of the package. */
import type { Begin, FromWorker, More, ToWorker } from '../../threads/messages.js';
import { drawFrom, waitFor } from '../../threads/messages.js';
import { nodeModule } from '../../threads/node-module.js';
import { type CompiledKernel, PointAdder } from '../../wasm/arithmetic/point-adder.js';
import type { Steps } from './bucket-sums.js';
import { Share, type WindowSums } from './share.js';

const node = nodeModule('node:worker_threads')?.parentPort;
const say = (message: FromWorker): void => (node ?? globalThis).postMessage(message);

let kernel: CompiledKernel | null = null;
let adder: PointAdder | null = null;
/** Who waits for the answer to `next`. */
let answer: ((message: More) => void) | null = null;

const finish = <Result>(steps: Steps<Result>): Result => {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
};

const ask = (): Promise<More> => {
  const more = new Promise<More>((resolve) => {
    answer = resolve;
  });
  say({ say: 'next' });
  return more;
};

/** The chunks of a round that are this worker's, one after the other. */
async function* chunksOf({ chunks, control, worker, place, isAll }: Begin): AsyncGenerator<number> {
  if (isAll || control !== null) yield* chunks;
  if (isAll) return;
  if (control === null) {
    let [chunk = null] = chunks;
    while (chunk !== null) {
      const more = ask();
      yield chunk;
      ({ chunk } = await more);
    }
    return;
  }
  for (;;) {
    waitFor(control, place);
    const chunk = drawFrom(control, worker);
    if (chunk === null) return;
    yield chunk;
  }
}

const compute = async (begin: Begin): Promise<{ readonly sums: WindowSums; readonly chunks: number }> => {
  const { task } = begin;
  if (begin.kernel !== null) [kernel, adder] = [begin.kernel, null];
  adder ??= await PointAdder.open(kernel as CompiledKernel);
  const share = new Share(adder, task.pieces);
  let chunks = 0;
  for await (const chunk of chunksOf(begin)) {
    chunks++;
    finish(share.add(chunk * task.rowsPerChunk, (chunk + 1) * task.rowsPerChunk));
  }
  const sums = finish(share.settle());
  return { sums, chunks };
};

const hear = (message: ToWorker): void => {
  if ('chunk' in message) {
    answer?.(message);
    return;
  }
  compute(message).then(
    (done) => say({ say: 'done', ...done }),
    (error: unknown) => say({ say: 'failed', why: String(error) }),
  );
};

if (node) node.on('message', (message) => hear(message as ToWorker));
else globalThis.addEventListener('message', ({ data }) => hear(data as ToWorker));
say({ say: 'ready' });
