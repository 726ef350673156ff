/**
 * Rooms of the sources: which folder may import which, types included. tests/unit/rooms.test.ts
 * refuses other imports and any circle, and docs/contributing/map.md is generated from the tables.
 */

/** A folder of `src/`. */
export interface Room {
  /** Rooms and entries that its modules may import, besides those that every room may. */
  readonly imports: string;
  /** Subjects that it knows, and what it must not know. */
  readonly holds: string;
}

/** Files of `src/` that every room may import, as it may `api/`. */
export const commonFiles = ['errors.ts', 'handle.ts', 'option-table.ts', 'version.ts'];

/** Rooms of `src/`. A room inside a room has a row of its own. */
export const rooms: Readonly<Record<string, Room>> = {
  api: { imports: '', holds: 'the public types; every room may import it' },
  shaders: {
    imports: '',
    holds:
      'WGSL as text and data: templates, bindings, structs, kernels and the commands that dispatch them; no device',
  },
  'wasm/encoder': { imports: '', holds: 'WebAssembly as bytes: modules, functions, instructions; no mathematics' },
  scheduling: {
    imports: '',
    holds:
      'queues and tickets: earliest deadline first with ageing, turns and pauses, request coalescing, time slices; no device',
  },
  threads: { imports: '', holds: 'pools of workers and chunk sources; tasks and results are opaque' },
  field: {
    imports: 'shaders',
    holds: 'a prime, fields of p and of p² elements, and the programs that compute in them; no curve',
  },
  curves: { imports: 'field', holds: 'the constants of a curve and its points on the CPU; no GPU' },
  encodings: { imports: 'curves', holds: 'how other software writes points and scalars' },
  'wasm/arithmetic': {
    imports: 'wasm/encoder field',
    holds:
      'fields and point addition as WebAssembly on integers of 32 bits, and fields on words of 64; sorting points into buckets and pairing them',
  },
  'wasm/floats': {
    imports: 'wasm/encoder wasm/arithmetic field',
    holds: 'fields and point addition on floats, by fused multiply-adds',
  },
  'wasm/points': {
    imports: 'scheduling wasm/encoder wasm/arithmetic wasm/floats field',
    holds: "the forms of arithmetic, an instance of one with its memory, and weighted sums by Horner's rule",
  },
  'wasm/vectors': {
    imports: 'scheduling wasm/encoder wasm/arithmetic wasm/floats wasm/points field',
    holds:
      'transforms, sums and products of vectors as WebAssembly, in every form of arithmetic; programs of them that threads divide',
  },
  'wasm/decode': {
    imports: 'wasm/encoder wasm/arithmetic field',
    holds: 'decoding compressed and Edwards points as WebAssembly on integers',
  },
  gpu: { imports: 'shaders scheduling', holds: 'a device: buffers, pipelines, submits, times, losses; no mathematics' },
  session: {
    imports: 'gpu scheduling shaders',
    holds: 'a device that outlives its loss, and the operations that it executes; no mathematics',
  },
  'msm/stages': { imports: 'shaders field curves', holds: 'each stage alone: its kernel, its structs, its shape' },
  'msm/plan': {
    imports: 'shaders field curves msm/stages',
    holds: 'pure: sizes, counts and defaults; no device, no promise, no clock',
  },
  'msm/inputs': {
    imports: 'shaders curves scheduling gpu session msm/plan',
    holds: 'bases, scalars and vectors of a call, in main memory and on a device',
  },
  msm: {
    imports: 'field curves scheduling session msm/plan msm/inputs',
    holds: 'the sum seen at once (`pippenger.ts`); a request, and what a backend is',
  },
  'msm/gpu': {
    imports: 'shaders field curves scheduling gpu session msm msm/inputs msm/plan msm/stages msm/cpu',
    holds: 'multiplications and loads as operations of a session',
  },
  'msm/cpu': {
    imports:
      'field curves scheduling session threads wasm/encoder wasm/arithmetic wasm/points wasm/vectors wasm/decode msm msm/inputs msm/plan msm/stages',
    holds: 'the same without a GPU, on one thread and on several',
  },
  'msm/routing': {
    imports: 'curves scheduling msm msm/inputs msm/plan msm/stages',
    holds: 'which backend computes a call, and how a call is divided',
  },
  'fields/program': {
    imports: 'field curves scheduling msm/inputs engine wasm/vectors',
    holds: 'operations on vectors of field elements, recorded and checked; the interface of a backend',
  },
  'fields/cpu': {
    imports: 'field scheduling threads wasm/points wasm/vectors fields/program',
    holds: 'vectors of field elements in memory, and what is computed with them, on one thread and on several',
  },
  'fields/gpu': {
    imports: 'shaders field scheduling gpu session msm/inputs msm/plan msm/stages fields/program index.ts',
    holds: 'vectors of field elements on a device: their stages, and runs as operations of a session',
  },
  fields: {
    imports: 'scheduling wasm/points msm/inputs engine fields/program fields/cpu fields/gpu',
    holds: 'engines for vectors of field elements',
  },
  calibrate: {
    imports: 'field curves gpu msm/stages msm/plan',
    holds: 'how knobs are measured, on engines that it is given; where the result is remembered',
  },
  engine: {
    imports:
      'field curves encodings scheduling threads gpu session msm msm/inputs msm/plan msm/stages msm/gpu msm/cpu msm/routing',
    holds: 'arguments, results, and how an engine is composed',
  },
  formats: {
    imports:
      'field curves scheduling threads wasm/points wasm/vectors msm/cpu engine fields/program fields/cpu index.ts',
    holds: 'where in the files of provers their points are; keys that are kept between visits, and compact ones',
  },
  pairing: { imports: 'field curves scheduling index.ts', holds: 'products of pairings, on the CPU; no proof' },
  proofs: {
    imports: 'scheduling threads engine formats pairing fields.ts formats.ts index.ts',
    holds: 'witnesses, random numbers, JSON, vectors and sums of a few points, for all proof systems',
  },
  'proofs/plonkish': {
    imports: 'field curves scheduling threads engine formats fields/program proofs formats.ts index.ts',
    holds: 'PLONKish circuits: gates, permutation, transcript, openings; no proof system',
  },
  plonk: {
    imports: 'field formats fields/program proofs proofs/plonkish',
    holds: 'whole proofs of PLONK: its rounds as operations on vectors',
  },
  fflonk: {
    imports: 'field formats fields/program proofs proofs/plonkish',
    holds: 'whole proofs of FFLONK, likewise',
  },
  groth16: {
    imports: 'field scheduling threads engine formats fields/program fields/cpu proofs fields.ts formats.ts index.ts',
    holds: 'whole proofs of Groth16: what is loaded, computed and assembled',
  },
  circom: {
    imports: 'field scheduling threads engine formats proofs fflonk.ts formats.ts groth16.ts index.ts plonk.ts',
    holds: 'circuits of circom: inputs, programs that compute witnesses, and proofs of them, here or in workers',
  },
  command: {
    imports: 'circom setup verifiers formats circom.ts formats.ts index.ts node.ts setup.ts',
    holds: 'the command `webgpu-msm`, in Node: arguments to calls, results to files, errors to exit codes',
  },
  verifiers: {
    imports: 'field curves formats pairing proofs proofs/plonkish fflonk groth16 plonk index.ts',
    holds: 'verification keys of all proof systems: read from a zkey or from JSON, and proofs verified by them',
  },
  setup: {
    imports:
      'field curves scheduling threads wasm/encoder gpu session msm/stages msm/gpu msm/cpu formats pairing proofs proofs/plonkish verifiers fields.ts formats.ts index.ts',
    holds: 'trusted setups of circuits: transcripts, contributions, new keys, verification',
  },
  provers: {
    imports:
      'circom verifiers curves msm/inputs engine formats proofs circom.ts fflonk.ts formats.ts groth16.ts index.ts plonk.ts setup.ts',
    holds: 'provers that bring their own curves: what is replaced in them',
  },
};

/** Folders of tools, with what each may import: rooms of tools, or whole top folders. */
export const toolRooms: Readonly<Record<string, string>> = {
  dev: 'dev/bench dev/page',
  'dev/oracle': 'src',
  'dev/cases': 'src dev/oracle',
  'dev/checks': 'src',
  'dev/peers': 'dev/oracle',
  'dev/trial-keys': '',
  'dev/soak': 'src dev/oracle',
  'dev/field-bench': 'src dev/oracle',
  'dev/fuzz': 'src dev/oracle dev/cases dev/checks',
  'dev/faults': 'src dev/oracle dev/checks',
  'dev/count': 'src dev/oracle dev/cases dev/field-bench dev/bench',
  'dev/bench': 'src dev/trial-keys dev/oracle dev/cases dev/checks dev/peers dev/field-bench dev/count',
  'dev/page': 'src dev/oracle dev/cases dev/bench',
  'dev/server': 'dev/bench',
  scripts: 'src scripts tests dev/trial-keys dev/bench dev/cases dev/count dev/faults dev/fuzz dev/soak',
  'scripts/docs': 'src scripts tests dev/oracle dev/count dev/bench',
  'tools/isa': 'src scripts dev/oracle dev/field-bench dev/bench',
  'tools/native': '',
  'tools/webkit': 'scripts dev/cases dev/trial-keys',
};

/** Returns the names of a list. */
export const namesIn = (list: string): string[] => list.split(' ').filter((name) => name !== '');
