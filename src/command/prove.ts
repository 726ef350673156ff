/** `webgpu-msm prove` and `webgpu-msm witness`. */
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type CircuitInput, openCircuit } from '../circom.js';
import { MsmError } from '../index.js';
import { jsonText, readJson, writeJson } from './json-files.js';
import type { Terminal } from './terminal.js';

/** Result of a command. */
export interface Outcome {
  /** Text for standard output. */
  readonly output: string;
  readonly exitCode: 0 | 1;
}

/** Names of what computes. */
export const backends = ['auto', 'cpu', 'gpu'] as const;

type Backend = (typeof backends)[number];

/** Arguments of `prove`: paths of files. */
export interface ProveArguments {
  readonly wasm: string;
  readonly zkey: string;
  readonly input: string;
  readonly proof?: string;
  readonly public?: string;
  readonly verify?: boolean;
  readonly backend: Backend;
  /** Bytes. */
  readonly memoryLimit?: number;
  readonly json?: boolean;
}

/** Arguments of `witness`: paths of files. */
export interface WitnessArguments {
  readonly wasm: string;
  readonly input: string;
  readonly out: string;
  readonly json?: boolean;
}

/** Reads the values of input signals. @throws MsmError `bad-argument` */
const readInput = async (path: string): Promise<CircuitInput> => {
  const input = await readJson(path);
  if (typeof input === 'object' && input !== null && !Array.isArray(input)) return input as CircuitInput;
  throw new MsmError('bad-argument', `${path} must be an object with the values of the input signals by name`);
};

/**
 * Returns the options of a backend. Node has no WebGPU, so a GPU needs the package `webgpu` of the
 * current folder.
 */
export const backendOptions = async (backend: Backend): Promise<{ readonly backend: Backend; readonly gpu?: GPU }> => {
  if (backend !== 'gpu' || globalThis.navigator?.gpu !== undefined) return { backend };
  try {
    const path = createRequire(join(process.cwd(), 'package.json')).resolve('webgpu');
    const dawn = await import(/* @vite-ignore */ pathToFileURL(path).href);
    return { backend, gpu: dawn.create([]) };
  } catch (cause) {
    throw new MsmError('no-webgpu', 'the package webgpu, which gives Node a GPU, cannot be loaded', { cause });
  }
};

/** Proves, as `snarkjs groth16 fullprove` and those of the other systems do, and writes the same files. */
export const prove = async (given: ProveArguments, terminal: Terminal): Promise<Outcome> => {
  const input = await readInput(given.input);
  const ofBackend = await backendOptions(given.backend);
  const circuit = await openCircuit(
    { wasm: given.wasm, zkey: given.zkey },
    {
      ...ofBackend,
      // a device cannot be sent to a worker
      ...(ofBackend.gpu !== undefined && { worker: false }),
      ...(given.memoryLimit !== undefined && { memoryLimit: given.memoryLimit }),
      ...{ onProgress: terminal.progress, onWarning: terminal.warn },
    },
  );
  try {
    const { proof, publicSignals, timings } = await circuit.prove(input, {
      verifyProof: given.verify ?? false,
      onProgress: terminal.progress,
    });
    if (given.proof !== undefined) await writeJson(given.proof, proof);
    if (given.public !== undefined) await writeJson(given.public, publicSignals);
    // results without a file
    const printed = {
      ...(given.proof === undefined && { proof }),
      ...(given.public === undefined && { publicSignals }),
    };
    if (given.json) {
      const { protocol, curve } = proof;
      const facts = { protocol, curve, isVerified: given.verify ?? false, timings };
      return { output: `${JSON.stringify({ ...facts, ...printed })}\n`, exitCode: 0 };
    }
    return { output: Object.keys(printed).length === 0 ? '' : `${jsonText(printed)}\n`, exitCode: 0 };
  } finally {
    terminal.clear();
    circuit.destroy();
  }
};

/** Owner alone may read: a witness has all inputs. */
const SECRET_FILE = 0o600;

/** Computes a witness, as `snarkjs wtns calculate` does, and writes the same file. */
export const witness = async (given: WitnessArguments, terminal: Terminal): Promise<Outcome> => {
  const input = await readInput(given.input);
  const circuit = await openCircuit({ wasm: given.wasm }, { onProgress: terminal.progress, onWarning: terminal.warn });
  try {
    const bytes = await circuit.witness(input);
    const { byteLength } = bytes;
    try {
      await writeFile(given.out, bytes, { mode: SECRET_FILE });
    } finally {
      bytes.fill(0);
    }
    const { values } = circuit;
    return { output: given.json ? `${JSON.stringify({ values, byteLength })}\n` : '', exitCode: 0 };
  } finally {
    terminal.clear();
    circuit.destroy();
  }
};
