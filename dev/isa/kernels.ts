/** The kernels that a chip gets: those of the library, as it asks a device for them, and operations of field-bench. */
import type { Tuning } from '../../src/api/tuning.js';
import { bls12377G2 } from '../../src/curves/bls12-377-g2.js';
import { bls12381G2 } from '../../src/curves/bls12-381-g2.js';
import { bn254 } from '../../src/curves/bn254.js';
import { bn254G2 } from '../../src/curves/bn254-g2.js';
import { type AnyCurve, type Curve, curveContext } from '../../src/curves/curve.js';
import { encodePoints } from '../../src/engine/arguments.js';
import { modulus } from '../../src/field/modulus.js';
import { quadraticField } from '../../src/field/quadratic.js';
import { pipelineFor } from '../../src/gpu/pipelines.js';
import type { Library } from '../bench/environment.js';
import { fieldChain, fieldOperations } from '../field-bench/kernels.js';
import { bls12381, p256Curve, secp192r1 } from '../oracle/curves.js';
import { type ChipName, chips } from './chips.js';
import { type Asked, UnbuiltDevice } from './unbuilt-device.js';

/** A kernel by the name that the tables have. */
export interface ChipKernel extends Asked {
  readonly title: string;
}

/** Curves whose kernels can be had. */
export const curves = {
  bn254,
  'bls12-381': bls12381,
  p256: p256Curve,
  secp192r1,
  'bn254-g2': bn254G2,
  'bls12-381-g2': bls12381G2,
  'bls12-377-g2': bls12377G2,
} as const;

/** So many scalars that every kernel has something to do. */
const SIZE = 2 ** 16;

/** Of several kernels of one name, all but the first have a number. */
const titled = (asked: readonly Asked[]): ChipKernel[] => {
  const distinct = [...new Map(asked.map((kernel) => [kernel.source, kernel])).values()];
  return distinct.map((kernel, i) => {
    const before = distinct.slice(0, i).filter(({ name }) => name === kernel.name).length;
    return { ...kernel, title: before === 0 ? kernel.name : `${kernel.name} ${before + 1}` };
  });
};

/** One that has no y, of any curve that names it: what loads it needs programs. */
const COMPRESSED = 'ark-compressed';

/** What the library compiles on a chip to load bases, with tables and without, compressed ones as well, and for an MSM. */
export const stageKernels = async (
  library: Library,
  chip: ChipName,
  constants: AnyCurve,
  tuning: Partial<Tuning>,
): Promise<ChipKernel[]> => {
  const { device, gpu, asked } = new UnbuiltDevice(chips[chip]);
  // over whichever field: its one point is of the same kind
  const curve = { ...constants, encodings: [COMPRESSED] } as Curve;
  const engine = await library.createMsmEngine({ curve, device, gpu, tuning });
  const points = [{ ...curve.generator, infinity: false }];
  const context = curveContext(curve, quadraticField);
  // as the engine has it: in a module of its own
  const { writerOf } = await import('../../src/encodings/encodings.js');
  const compressed = writerOf(context, COMPRESSED)(encodePoints(context, points));
  const calls = [
    () => engine.loadBases(points, { precompute: 2 }),
    () => engine.loadBases(compressed, { encoding: COMPRESSED }),
    () => engine.warmup(SIZE),
  ];
  for (const call of calls) {
    const before = asked.length;
    // no pipeline is ever made, so each of them fails
    const error = await call().then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (asked.length === before) throw error ?? new Error('the library compiled nothing');
  }
  engine.destroy();
  return titled(asked);
};

/** What else field-bench has costs next to nothing. */
const operations = fieldOperations.filter(({ name }) => ['product', 'square', 'inverse'].includes(name));

/** Operations of the field over and over, one chain a thread: `product 14-bit signed, float` and so on. */
export const fieldKernels = async (chip: ChipName, curve: AnyCurve): Promise<ChipKernel[]> => {
  const { device, asked } = new UnbuiltDevice(chips[chip]);
  const m = modulus(curve.p);
  const kernels: ChipKernel[] = [];
  for (const operation of operations) {
    await pipelineFor(device, fieldChain(m, operation, 1)).catch(() => undefined);
    kernels.push({ ...(asked.at(-1) as Asked), title: `${operation.name} ${operation.variant}` });
  }
  return kernels;
};
