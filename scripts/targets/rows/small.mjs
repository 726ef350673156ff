/** An MSM of few points on the GPU: what its fixed costs are. */

const N = 256;
const TARGETS = { hardwareMs: { most: 3 }, softwareMillions: { most: 0.5 } };

/** @satisfies {import('./all.mjs').Row} */
export const small = {
  name: 'small',

  /** @param {import('../workbench.mjs').Workbench} bench */
  measure: (bench) => bench.baseline(N),

  /**
   * @param {{ wallMs: number, productEquivalents: number }} measured
   * @param {import('./all.mjs').Conditions} conditions
   */
  judge({ wallMs, productEquivalents }, { software }) {
    return [
      software
        ? {
            what: `n = ${N}: million product equivalents`,
            target: TARGETS.softwareMillions,
            value: productEquivalents / 1e6,
            unit: 'M',
            note: `${wallMs.toFixed(1)} ms now`,
          }
        : { what: `n = ${N}: wall`, target: TARGETS.hardwareMs, value: wallMs, unit: 'ms' },
    ];
  },
};
