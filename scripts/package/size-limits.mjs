/**
 * The most bytes of each module of the package, compressed as servers do (gzip, level 9), with room
 * for a release. tests/package compares the build with them, and the docs show them.
 */

/**
 * @typedef {{ readonly bytes: number, readonly holds: string, readonly loaded: string }} SizeLimit
 */

const workerBytes = 6400;

/** Limits by file name without `.js`. */
export const sizeLimits = /** @satisfies {Record<string, SizeLimit>} */ ({
  index: {
    bytes: 90880,
    holds: 'the engine, its shaders, and BN254’s G1',
    loaded: 'by the import of `webgpu-msm`; a first result on a GPU waits for nothing else',
  },
  'cpu-backend': {
    bytes: 23040,
    holds: 'the CPU backend, and the last step of sums on a GPU',
    loaded: 'when the CPU computes, and while a GPU compiles its first kernels',
  },
  arithmetic: {
    bytes: 28160,
    holds: 'the generators of WebAssembly',
    loaded: 'with `cpu-backend.js`, and by the import of `webgpu-msm/fields`',
  },
  fields: {
    bytes: 16896,
    holds: 'vectors of field elements',
    loaded: 'by the import of `webgpu-msm/fields`',
  },
  'open-vectors': {
    bytes: 15616,
    holds: 'vectors of field elements on a GPU, and their shaders',
    loaded: 'when a GPU has vectors',
  },
  'more-curves': {
    bytes: 4864,
    holds: 'the constants of all other curves and groups',
    loaded: 'for every curve but BN254’s G1',
  },
  encodings: { bytes: 2816, holds: 'the encodings', loaded: 'for every encoding but `le`' },
  'webgpu-msm-worker': { bytes: workerBytes, holds: 'the CPU worker', loaded: 'when the CPU starts workers' },
  'worker-text': {
    bytes: workerBytes,
    holds: 'the CPU worker, as text',
    loaded: 'where `webgpu-msm-worker.js` is not found or may not be started',
  },
  snarkjs: { bytes: 10496, holds: 'the adapter of snarkjs', loaded: 'by the import of `webgpu-msm/snarkjs`' },
  noble: { bytes: 2304, holds: 'the adapter of noble-curves', loaded: 'by the import of `webgpu-msm/noble`' },
  formats: {
    bytes: 5376,
    holds: 'the readers of files',
    loaded: 'by the import of `webgpu-msm/formats`, and with `groth16.js`, `plonk.js`, `fflonk.js` and `snarkjs.js`',
  },
  groth16: { bytes: 4096, holds: 'proofs of Groth16', loaded: 'by the import of `webgpu-msm/groth16`' },
  plonk: { bytes: 4352, holds: 'proofs of PLONK', loaded: 'by the import of `webgpu-msm/plonk`' },
  fflonk: { bytes: 5120, holds: 'proofs of FFLONK', loaded: 'by the import of `webgpu-msm/fflonk`' },
  plonkish: { bytes: 4864, holds: 'what PLONK and FFLONK share', loaded: 'with `plonk.js` and `fflonk.js`' },
  proofs: {
    bytes: 4352,
    holds: 'witnesses and what keys share',
    loaded: 'with `groth16.js`, `plonk.js` and `fflonk.js`',
  },
  pairing: { bytes: 2560, holds: 'pairings', loaded: 'by the first verification of a proof' },
  calibrate: { bytes: 768, holds: 'the function `calibrate`', loaded: 'by the import of `webgpu-msm/calibrate`' },
  calibration: {
    bytes: 4608,
    holds: 'the search for knobs',
    loaded: 'with `calibrate.js`, and on a GPU by the option `calibrate`',
  },
});

/** @typedef {keyof typeof sizeLimits} SizedModule */

/** Limits of what a bundler makes of a program that imports all of the main module. */
export const bundleLimits = {
  /** Bundlers that leave dynamic imports in files of their own, and minify again. */
  split: sizeLimits.index.bytes,
  /**
   * Bundlers that put dynamic imports and the text of the worker into one file, such as esbuild.
   */
  oneFile: 153600 + workerBytes,
};
