/**
 * The most bytes of each module of the package, minified by a bundler and compressed by a server
 * (gzip, level 9): 5 % more than it has, so that it can grow within a release. tests/package
 * compares the build with them, and the docs show them.
 */

/**
 * @typedef {{ readonly bytes: number, readonly holds: string, readonly loaded: string }} SizeLimit
 */

const workerBytes = 11840;

/** Limits by file name without `.js`. */
export const sizeLimits = /** @satisfies {Record<string, SizeLimit>} */ ({
  index: {
    bytes: 86656,
    holds: 'the engine, its shaders, and BN254’s G1',
    loaded: 'by the import of `webgpu-msm`; a first result on a GPU waits for nothing else',
  },
  'cpu-backend': {
    bytes: 17536,
    holds: 'the CPU backend, and the last step of sums on a GPU',
    loaded: 'when the CPU computes, and while a GPU compiles its first kernels',
  },
  arithmetic: {
    bytes: 28160,
    holds: 'the generators of WebAssembly',
    loaded: 'with `cpu-backend.js`, and by the import of `webgpu-msm/fields`',
  },
  threads: {
    bytes: 6080,
    holds: 'workers of the CPU, and adders of points',
    loaded: 'with `cpu-backend.js` and `setup.js`',
  },
  fields: {
    bytes: 3200,
    holds: 'engines for vectors of field elements',
    loaded: 'by the import of `webgpu-msm/fields`',
  },
  vectors: {
    bytes: 22656,
    holds: 'vectors of field elements on the CPU',
    loaded: 'with `fields.js` and `compact-chunks.js`',
  },
  'open-vectors': {
    bytes: 15168,
    holds: 'vectors of field elements on a GPU, and their shaders',
    loaded: 'when a GPU has vectors',
  },
  'more-curves': {
    bytes: 4160,
    holds: 'the constants of all other curves and groups',
    loaded: 'for every curve but BN254’s G1',
  },
  encodings: { bytes: 2624, holds: 'the encodings', loaded: 'for every encoding but `le`' },
  'webgpu-msm-worker': { bytes: workerBytes, holds: 'the CPU worker', loaded: 'when the CPU starts workers' },
  'worker-text': {
    bytes: workerBytes,
    holds: 'the CPU worker, as text',
    loaded: 'where `webgpu-msm-worker.js` is not found or may not be started',
  },
  circom: {
    bytes: 5312,
    holds: 'circuits of circom, and their workers seen from outside',
    loaded: 'by the import of `webgpu-msm/circom`, and by the first `fullProve` of `snarkjs-drop-in.js` in workers',
  },
  circuit: {
    bytes: 5632,
    holds: 'programs of circom, and keys of any proof system',
    loaded: 'with `circom.js`, and by the first `fullProve` of `provers.js`',
  },
  'webgpu-msm-circuit-worker': {
    bytes: 250496,
    holds: 'the worker of circuits: most of the others, in one file',
    loaded: 'when a circuit opens in workers',
  },
  constraints: { bytes: 1728, holds: 'the check of witnesses', loaded: 'when a circuit opens with `r1cs`' },
  r1cs: { bytes: 1216, holds: 'the reader of constraints', loaded: 'with `constraints.js` and `setup.js`' },
  command: {
    bytes: 20480,
    holds: 'the command `webgpu-msm`, with commander',
    loaded: 'by `npx webgpu-msm`',
  },
  snarkjs: { bytes: 5632, holds: 'the adapter of snarkjs', loaded: 'by the import of `webgpu-msm/snarkjs`' },
  'snarkjs-drop-in': {
    bytes: 2688,
    holds: 'the interface of snarkjs without snarkjs',
    loaded: 'by the import of `webgpu-msm/snarkjs-drop-in`',
  },
  provers: {
    bytes: 8448,
    holds: 'keys and programs that stay loaded for calls of snarkjs’s form',
    loaded: 'with `snarkjs.js` and `snarkjs-drop-in.js`',
  },
  'exported-key': {
    bytes: 1280,
    holds: 'verification keys out of proving keys',
    loaded: 'with `command.js`, `setup.js` and `snarkjs-drop-in.js`',
  },
  verifiers: {
    bytes: 1344,
    holds: 'verification keys in JSON, and proofs verified by them',
    loaded: 'with `command.js` and `snarkjs-drop-in.js`',
  },
  'service-worker': {
    bytes: 317696,
    holds: 'all of the others, in one file',
    loaded: 'by the import of `webgpu-msm/service-worker`',
  },
  'disk-file': {
    bytes: 960,
    holds: 'files on a disk',
    loaded: 'with `node.js`, `provers.js`, `remote-file.js` and `stored-keys.js`',
  },
  noble: { bytes: 1408, holds: 'the adapter of noble-curves', loaded: 'by the import of `webgpu-msm/noble`' },
  formats: {
    bytes: 6784,
    holds: 'the readers of files',
    loaded:
      'by the import of `webgpu-msm/formats`, and with `circom.js`, `groth16.js`, `plonk.js`, `fflonk.js` and `provers.js`',
  },
  'remote-file': {
    bytes: 2560,
    holds: 'files of servers, and streams',
    loaded: 'by the first address, response or stream',
  },
  'stored-keys': {
    bytes: 7424,
    holds: 'keys that are kept between visits',
    loaded: 'by the first use of `opfsCache` or `folderCache`',
  },
  'compact-key': { bytes: 960, holds: 'the reader of compact keys', loaded: 'by the first compact key' },
  'compact-chunks': {
    bytes: 5312,
    holds: 'the form of compact keys, and square roots',
    loaded: 'with `compact-key.js`, `compact-writer.js` and `point-decompressor.js`',
  },
  'compact-writer': {
    bytes: 1280,
    holds: 'what packs and unpacks keys',
    loaded: 'by the first call of `packZkey` or `unpackZkey`',
  },
  sha256: { bytes: 1088, holds: 'SHA-256', loaded: 'with `provers.js`, `stored-keys.js` and `compact-key.js`' },
  sink: { bytes: 896, holds: 'places of results', loaded: 'with `setup.js` and `compact-writer.js`' },
  groth16: { bytes: 6080, holds: 'proofs of Groth16', loaded: 'by the import of `webgpu-msm/groth16`' },
  'prepared-matrices': {
    bytes: 960,
    holds: 'matrices of Groth16 as caches keep them',
    loaded: 'when a key of Groth16 opens with a `cache`',
  },
  'streamed-quotient': {
    bytes: 3264,
    holds: 'quotients of Groth16 whose matrices stay in the file',
    loaded: 'when a key of Groth16 opens with a `memoryLimit` that has no room for them',
  },
  plonk: { bytes: 4224, holds: 'proofs of PLONK', loaded: 'by the import of `webgpu-msm/plonk`' },
  fflonk: { bytes: 4864, holds: 'proofs of FFLONK', loaded: 'by the import of `webgpu-msm/fflonk`' },
  plonkish: {
    bytes: 5952,
    holds: 'what PLONK and FFLONK share',
    loaded: 'with `plonk.js`, `fflonk.js` and `setup.js`',
  },
  proofs: {
    bytes: 7808,
    holds: 'witnesses and what keys share',
    loaded: 'with `groth16.js`, `plonk.js` and `fflonk.js`',
  },
  pairing: { bytes: 2240, holds: 'pairings', loaded: 'by the first verification of a proof' },
  setup: {
    bytes: 33920,
    holds: 'new keys, powers of tau, contributions and their verification',
    loaded: 'by the import of `webgpu-msm/setup`',
  },
  'open-scaler': {
    bytes: 4672,
    holds: 'multiples of points on a GPU, and their shader',
    loaded: 'when a setup tries a GPU',
  },
  'point-decompressor': {
    bytes: 768,
    holds: 'compressed points of responses, read',
    loaded: 'when a response to powers of tau is imported',
  },
  calibrate: { bytes: 4032, holds: 'the search for knobs', loaded: 'by the import of `webgpu-msm/calibrate`' },
});

/** @typedef {keyof typeof sizeLimits} SizedModule */

/** Limits of what a bundler makes of a program that imports all of the main module. */
export const bundleLimits = {
  /** Bundlers that leave dynamic imports in files of their own, and minify again. */
  split: sizeLimits.index.bytes,
  /**
   * Bundlers that put dynamic imports and the text of the worker into one file, such as esbuild.
   */
  oneFile: 153088,
};
