// @ts-nocheck: see page.js
import { key, points, proofs, scalars, sums } from './case.js';

/** Sums and proofs in a service worker; what comes back can be cloned. */
const compute = async ({ createMsmEngine, ...entries }) => {
  const outcome = { scope: self.constructor.name, sums: [], proofs: {} };
  for (const { options, encoding } of sums) {
    const engine = await createMsmEngine(options);
    const bases = await engine.loadBases(points[options.curve], { encoding });
    const { x, y } = await engine.msm(bases, scalars);
    outcome.sums.push([options.curve, engine.lastRun.on, String(x), String(y)]);
    engine.destroy();
  }
  for (const system of proofs) {
    const { openProvingKey } = entries[system];
    const opened = await openProvingKey(key[system].zkey, { backend: 'cpu' });
    outcome.proofs[system] = await opened.prove(key[system].witness, { verifyProof: true });
    opened.destroy();
  }
  return outcome;
};

/** Answers a page with what it computes. */
export const answerWith = (library) =>
  addEventListener('message', (event) => {
    const [port] = event.ports;
    const failed = (error) => ({ error: String(error?.message ?? error) });
    event.waitUntil(
      compute(library)
        .catch(failed)
        .then((outcome) => port.postMessage(outcome)),
    );
  });
