/** What a warm MSM takes on a GPU, by the device's own clock, and how much the wall is above it. */
import { needs, notMeasured } from '../findings.mjs';
import { stageName } from '../names.mjs';

/** Milliseconds on the GPU. */
const TARGETS = /** @type {const} */ ([
  [16, 3],
  [18, 6],
  [20, 16],
]);
const ABOVE = { most: 1.5 };
const LINEAR = { from: 20, to: 22, target: { most: 4.4 } };

/** @satisfies {import('./all.mjs').Row} */
export const gpuTime = {
  name: 'gpu-time',

  /** @param {import('../workbench.mjs').Workbench} bench */
  async measure(bench) {
    const sizes = [];
    for (const logn of [...TARGETS.map(([logn]) => logn), LINEAR.to]) {
      if (!bench.software && logn <= bench.logn) sizes.push({ logn, ...(await bench.baseline(2 ** logn)) });
    }
    return { sizes };
  },

  /**
   * @param {{ sizes: readonly { logn: number, gpuMs: number | null, aboveGpuMs: number | null }[] }} measured
   * @param {import('./all.mjs').Conditions} conditions
   */
  judge({ sizes }, { software }) {
    const of = (/** @type {number} */ logn) => sizes.find((size) => size.logn === logn);
    const why = (/** @type {number} */ logn) =>
      software ? 'real GPUs only' : of(logn) === undefined ? needs(logn) : 'no timestamp-query here';
    const finding = (
      /** @type {string} */ what,
      /** @type {import('../findings.mjs').Target} */ target,
      /** @type {number | null} */ value,
      /** @type {number} */ logn,
      unit = 'ms',
    ) => (value === null ? notMeasured(what, target, why(logn)) : { what, target, value, unit });
    const [base, large] = [of(LINEAR.from)?.gpuMs ?? null, of(LINEAR.to)?.gpuMs ?? null];
    const growth = base === null || large === null ? null : large / base;
    return [
      ...TARGETS.flatMap(([logn, most]) => [
        finding(`${stageName(logn)}: GPU time`, { most }, of(logn)?.gpuMs ?? null, logn),
        finding(`${stageName(logn)}: wall above the GPU time`, ABOVE, of(logn)?.aboveGpuMs ?? null, logn),
      ]),
      finding(`GPU time, 2^${LINEAR.to} ÷ 2^${LINEAR.from}`, LINEAR.target, growth, LINEAR.to, '×'),
    ];
  },
};
