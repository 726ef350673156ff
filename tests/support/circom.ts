/** Circuits of circom 2, compiled by the package `circom2` and kept in a cache. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { project } from '../../scripts/builds.mjs';
import { madeOnce } from './made-once.js';

const run = promisify(execFile);
const modules = join(project, 'node_modules');

/** Files that the compiler writes for a circuit. */
export interface CompiledCircuit {
  readonly wasm: Uint8Array<ArrayBuffer>;
  readonly r1cs: Uint8Array<ArrayBuffer>;
  readonly sym: Uint8Array<ArrayBuffer>;
  /** The folder of `circuit.r1cs`, `circuit.sym` and `circuit_js/circuit.wasm`. */
  readonly folder: string;
}

/** Options of the compiler. */
export interface CircomOptions {
  /** Simplification: 0 none, 1 of equal signals, 2 of all linear constraints. */
  readonly level?: 0 | 1 | 2;
  readonly prime?: 'bn128' | 'bls12381' | 'goldilocks';
  /** Folder whose `node_modules` has another version of the package `circom2`. */
  readonly compiler?: string;
}

/**
 * Compiles a circuit. Templates of the package circomlib are included by `circomlib/circuits/…`.
 *
 * @throws Error with the messages of the compiler
 */
export const compileCircuit = async (
  source: string,
  { level = 2, prime = 'bn128', compiler = modules }: CircomOptions = {},
): Promise<CompiledCircuit> => {
  // early versions have neither `-p` nor `-l`
  const flags = [
    ...['--wasm', '--r1cs', '--sym', `--O${level}`],
    ...(prime === 'bn128' ? [] : ['-p', prime]),
    ...(source.includes('circomlib') ? ['-l', modules] : []),
  ];
  const folder = await madeOnce('circom', [], { source, flags, compiler }, async (made) => {
    writeFileSync(join(made, 'circuit.circom'), source);
    try {
      // the compiler sees this folder alone, and those below it
      const cli = join(compiler, 'circom2/cli.js');
      await run(process.execPath, [cli, join(made, 'circuit.circom'), ...flags, '-o', made], { cwd: '/' });
    } catch (cause) {
      const { stdout = '', stderr = '' } = cause as { readonly stdout?: string; readonly stderr?: string };
      throw new Error(`circom2 could not compile the circuit: ${stdout}${stderr}`, { cause });
    }
  });
  const read = (path: string) => new Uint8Array(readFileSync(join(folder, path)));
  return {
    wasm: read('circuit_js/circuit.wasm'),
    r1cs: read('circuit.r1cs'),
    sym: read('circuit.sym'),
    folder,
  };
};

/**
 * A circuit with inputs of several shapes, public ones too, that logs, asserts, and loops as often as
 * it is told. Its output is ((k·a₀₀ + a₀₁)·a₁₀ + a₁₁)·a₂₀ + a₂₁.
 */
export const shapes = `pragma circom 2.0.0;
template Shapes(n) {
  signal input a[n][2];
  signal input k;
  signal input turns;
  signal output out;
  signal sums[n + 1];
  sums[0] <== k;
  for (var i = 0; i < n; i++) { sums[i + 1] <== sums[i] * a[i][0] + a[i][1]; }
  out <== sums[n];
  log("out", out, k);
  log("second");
  assert(k != 7);
  signal isNine;
  isNine <-- k == 9 ? 1 : 0;
  isNine === 0;
  var turned = 0;
  while (turned < turns) { turned++; }
  signal counted;
  counted <-- turned;
  counted === turns;
}
component main {public [k]} = Shapes(3);
`;
