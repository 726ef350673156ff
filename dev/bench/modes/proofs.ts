/**
 * `proofs`: times proofs of snarkjs without and with the library, and those of the library alone,
 * and measures the memory of the former.
 */
import type { MemoryFile, UniversalSystem } from 'snarkjs';
import { median, ratioOfMedians } from '../../../src/calibrate/statistics.js';
import { openProvingKey as openFflonk } from '../../../src/fflonk.js';
import { openProvingKey as openGroth16, type ProvingKeyOptions } from '../../../src/groth16.js';
import { openProvingKey as openPlonk } from '../../../src/plonk.js';
import { accelerate } from '../../../src/provers/accelerate.js';
import type { AccelerateOptions } from '../../../src/provers/accelerate-options.js';
import type { FfCurveName, FfGroup, MultiExpAffine } from '../../../src/provers/ffjavascript.js';
import { makeCircuit } from '../../trial-keys/circuit.js';
import { type KeyCurve, makeKeys } from '../../trial-keys/keys.js';
import type { Bench } from '../bench-setup.js';
import { formatMs } from '../format.js';
import { type Knobs, knob, parseIntegers, type Values, wordKnob, wordsKnob } from '../knob.js';
import { knownPowers } from '../known-powers.js';
import { engineOptions, interleave, weightOf } from '../measure.js';
import { headline, type Part, type Parts, tableOf } from '../parts.js';
import { type Host, type RowOf, rowsOf, type StampedRow } from '../rows.js';
import type { Setting } from '../settings.js';
import { grouped, intervalText, speedText } from '../summary.js';
import { benchMode } from './mode.js';

/** Words for the provers that snarkjs is compared with. */
const provers = ['accelerated', 'library'] as const;

/** Provers: snarkjs alone, with the library's MSMs, or the library alone. */
const sides = ['plain', 'ours', 'whole'] as const;
type Side = (typeof sides)[number];

const sideNames: Readonly<Record<Side, string>> = {
  plain: 'snarkjs alone',
  ours: 'snarkjs with the library',
  whole: 'the library alone',
};

const systems = ['groth16', 'plonk', 'fflonk'] as const;
type System = (typeof systems)[number];

/** Kinds of witnesses: large values, or bits of which one in eight is set. */
const witnesses = ['dense', 'sparse'] as const;
type Witness = (typeof witnesses)[number];

export const witnessKnob = wordKnob(['Witness', 'Kind of witness: large values, or bits.'], witnesses, 'dense');

declare module '../rows.js' {
  interface Rows {
    readonly proof: {
      /** Absent in old rows, which are of Groth16. */
      readonly system?: System;
      /** Absent in old rows, which are of dense ones. */
      readonly witness?: Witness;
      /** Logarithm of the size of the domain. */
      readonly logn: number;
      readonly constraints: number;
      readonly side: Side;
      /**
       * `first`: the first proof of a side, which loads what it keeps. `by itself`: before the
       * other sides are opened, or after it. `in turns`: all sides interleaved.
       */
      readonly when: 'first' | 'by itself' | 'in turns';
      readonly repetition: number;
      /**
       * Milliseconds, for first proofs, from the opening of the library or its key to the end of the
       * proof. snarkjs opens nothing before. Absent in old rows.
       */
      readonly sinceOpeningMs?: number;
      readonly ms: number;
      /** Milliseconds of the proof that MSMs took; null if they overlap with other parts. */
      readonly msmMs: number | null;
      /**
       * Peak memory of the process during the proof, with what sides before it hold; null if
       * unknown.
       */
      readonly peakBytes: number | null;
    };
    /** Proofs made at once, as a proving service makes them; all verified. */
    readonly proving: {
      readonly system: System;
      readonly witness?: Witness;
      readonly logn: number;
      readonly side: Side;
      readonly concurrency: number;
      readonly repetition: number;
      readonly ms: number;
      readonly secondsPerProof: number;
    };
  }
}

type Proof = RowOf<'proof'>;

const select = (rows: readonly Proof[], side: Side, ...when: readonly Proof['when'][]): readonly Proof[] =>
  rows.filter((row) => row.side === side && when.includes(row.when));

const msOf = (rows: readonly Proof[]): readonly number[] => rows.map(({ ms }) => ms);

const peakOf = (rows: readonly Proof[]): number | null =>
  rows.reduce<number | null>(
    (most, { peakBytes }) => (peakBytes === null ? most : Math.max(most ?? 0, peakBytes)),
    null,
  );

/** Rows without a system are of Groth16. */
const systemOf = (rows: readonly Proof[]): System => rows[0]?.system ?? 'groth16';

const titles: Readonly<Record<System, string>> = { groth16: 'Groth16', plonk: 'PLONK', fflonk: 'FFLONK' };

/** Reports proofs at once: seconds a proof, as a proving service counts them. */
function provingTable(rows: readonly RowOf<'proving'>[]): Part | null {
  if (rows.length === 0) return null;
  const levels = grouped(rows, ({ logn, concurrency }) => `${logn} ${concurrency}`).map((own) => {
    const secondsOf = (side: Side): number[] =>
      own.filter((row) => row.side === side).map(({ secondsPerProof }) => secondsPerProof);
    return {
      ...{ first: own[0] as RowOf<'proving'>, plain: secondsOf('plain') },
      ...{ ours: secondsOf('ours'), whole: secondsOf('whole') },
    };
  });
  const middle = (values: readonly number[]): string => median(values)?.toFixed(3) ?? '–';
  return tableOf('Proofs at once: seconds a proof, medians', levels, [
    ['Domain', ({ first }) => `2^${first.logn}`],
    ['Proofs at once', ({ first }) => String(first.concurrency)],
    [sideNames.plain, ({ plain }) => middle(plain)],
    [sideNames.ours, ({ ours }) => ({ text: middle(ours), as: 'strong' })],
    [sideNames.whole, ({ whole }) => middle(whole)],
    ['With ÷ alone', ({ plain, ours }) => ratioOfMedians(plain, ours).ratio.toFixed(3)],
    ['95 % CI', ({ plain, ours }) => intervalText(ratioOfMedians(plain, ours), 3)],
  ]);
}

/** Returns the sentence that says what a user of the library gains, at one size. */
function resultOf(rows: readonly Proof[], logn: number): string {
  const own = rows.filter((row) => row.logn === logn);
  const timesOf = (side: Side): readonly number[] => msOf(select(own, side, 'in turns'));
  const compared = sides.slice(1).flatMap((side) => {
    const times = timesOf(side);
    return times.length === 0
      ? []
      : `${sideNames[side]} ${formatMs(median(times))} ms, ${speedText(times, timesOf('plain'), sideNames.plain)}`;
  });
  const constraints = (own[0]?.constraints ?? 0).toLocaleString('en');
  return `A ${titles[systemOf(own)]} proof of ${constraints} constraints takes snarkjs alone ${formatMs(median(timesOf('plain')))} ms; ${compared.join('; ')}.`;
}

export function proofsResult(rows: readonly StampedRow[]): Parts {
  const told = rowsOf(rows, 'proof');
  const sizes = [...new Set(told.map(({ logn }) => logn))];
  const lines = sizes.flatMap((logn) =>
    sides.flatMap((side) => {
      const own = told.filter((row) => row.logn === logn && row.side === side);
      const interleaved = select(own, side, 'in turns');
      if (interleaved.length === 0) return [];
      const peak = peakOf(select(own, side, 'first', 'by itself'));
      return [
        {
          ...{ logn, side, proofs: interleaved.length, constraints: interleaved[0]?.constraints ?? 0 },
          ms: median(msOf(interleaved)) as number,
          msmMs: median(interleaved.flatMap(({ msmMs }) => (msmMs === null ? [] : [msmMs]))),
          firstMs: select(own, side, 'first').map(({ sinceOpeningMs, ms }) => sinceOpeningMs ?? ms)[0] ?? Number.NaN,
          peak: peak === null ? '' : (peak / 1e6).toFixed(0),
        },
      ];
    }),
  );
  if (lines.length === 0) return [];
  return [
    headline(resultOf(told, sizes.at(-1) as number)),
    tableOf(
      `${titles[systemOf(told)]} proofs with a ${told[0]?.witness ?? 'dense'} witness, medians of the interleaved repetitions`,
      lines,
      [
        ['Constraints', ({ constraints }) => constraints.toLocaleString('en')],
        ['Prover', ({ side }) => sideNames[side]],
        ['Proof, ms', ({ ms }) => ({ text: formatMs(ms), as: 'strong' })],
        ['MSMs of the proof, ms', ({ msmMs }) => (msmMs === null ? '' : formatMs(msmMs))],
        ['First, with opening, ms', ({ firstMs }) => formatMs(firstMs)],
        ['Peak memory, MB', ({ peak }) => peak],
        ['Proofs', ({ proofs }) => String(proofs)],
      ],
    ),
    provingTable(rowsOf(rows, 'proving')),
  ];
}

const own = {
  system: wordKnob(['Proof system', 'Proof system of snarkjs.'], systems, 'groth16'),
  witness: witnessKnob,
  provers: wordsKnob(
    [
      'Compare with',
      'Provers that snarkjs alone is compared with: snarkjs with the library’s MSMs (accelerated), and the library alone. The first proof of the first one finds nothing compiled.',
    ],
    provers,
    'accelerated,library',
  ),
  concurrency: knob(
    ['Callers', 'Also makes so many proofs at once, by each prover in turns: 1,5,10,20.'],
    '1 to 1000, or a list',
    'no such proofs',
    (text, name) => parseIntegers(name, text, 1, 1000),
    (): readonly number[] => [],
  ),
};

type ProofKnobs = Knobs & Values<typeof own>;

export const proofs = benchMode({
  title: 'Proofs',
  about: 'times proofs by snarkjs, with and without the library, and by the library alone, in turns',
  takes: '1 to 2 min',
  example: 'proofs --logn 14 --system plonk --concurrency 1,5,10,20',
  limits: 'The witness is part of the input: it is not timed.',
  nodeOnly: 'it needs snarkjs and reads the memory of the process; examples/prover/ is a page that proves',
  runsOn: 'either',
  uses: ['curve', 'logn', 'reps'],
  engine: ['backend', 'workers'],
  defaults: { logn: [14] },
  knobs: own,
  run: runProofs,
  show: proofsResult,
});

/** Milliseconds between two samples of memory. */
const LOOK_MS = 5;

/**
 * Runs `work` and returns the peak memory of the process meanwhile; null where memory is unknown.
 */
async function watchPeak<Result>({ usedBytes }: Host, work: () => Promise<Result>) {
  let peak = usedBytes?.() ?? null;
  const sample = (): void => {
    if (usedBytes && peak !== null) peak = Math.max(peak, usedBytes());
  };
  const timer = setInterval(sample, LOOK_MS);
  try {
    const result = await work();
    sample();
    return { result, peak };
  } finally {
    clearInterval(timer);
  }
}

const sidesOf = ({ provers: asked }: Pick<ProofKnobs, 'provers'>): readonly Side[] => [
  'plain',
  ...(asked ?? provers).map((prover): Side => (prover === 'accelerated' ? 'ours' : 'whole')),
];

async function runProofs(bench: Bench, knobs: ProofKnobs): Promise<null> {
  const { run } = bench;
  const sizes = knobs.cases.map(({ address }) => Math.round(Math.log2(address.n)));
  const { concurrency, reps } = knobs;
  const { length } = sidesOf(knobs);
  run.plan(
    sizes.flatMap((logn) => [
      ...Array(length * (2 * reps + 1)).fill(weightOf(2 ** logn)),
      ...concurrency.flatMap((callers) => Array(length * reps).fill(callers * weightOf(2 ** logn))),
    ]),
  );
  for (const logn of sizes) await measure(bench, knobs, logn);
  return null;
}

async function measure(bench: Bench, knobs: ProofKnobs, logn: number): Promise<void> {
  const { run, host } = bench;
  const { concurrency, curve, reps, settings, system, witness } = knobs;
  await run.next(`Making keys for a domain of 2^${logn}`);
  const sides = sidesOf(knobs);
  const prover = await openProver(curve, logn, () => run.tick(), system, witness);
  const prove = async (when: RowOf<'proof'>['when'], side: Side, repetition: number, openMs = 0): Promise<void> => {
    await run.next(`2^${logn}, ${sideNames[side]}: proof ${repetition} (${when})`);
    const { result, peak } = await watchPeak(host, () => prover.prove(side));
    const { constraints } = prover;
    const told = { system, witness, logn, constraints, side, when, repetition };
    const row = {
      event: 'proof',
      ...told,
      ...result,
      peakBytes: peak,
      ...(when === 'first' && { sinceOpeningMs: openMs + result.ms }),
    } as const;
    run.emit(row);
    run.advance(weightOf(2 ** logn));
  };
  try {
    // memory of snarkjs alone is measured before the library is loaded
    await prove('first', 'plain', 1);
    for (let repetition = 1; repetition <= reps; repetition++) await prove('by itself', 'plain', repetition);
    const options = engineOptions(bench, { ...(settings[0] as Setting), memoryBudget: null });
    for (const side of sides.slice(1)) {
      // proofs by snarkjs alone would warn that they bypass the library
      const quiet = { ...options, onWarning: () => {} };
      const begun = performance.now();
      await (side === 'ours' ? prover.accelerate(quiet) : prover.open(options));
      await prove('first', side, 1, performance.now() - begun);
      for (let repetition = 1; repetition <= reps; repetition++) await prove('by itself', side, repetition);
    }
    await interleave(sides, reps, { take: (side, repetition) => prove('in turns', side, repetition) });
    for (const callers of concurrency) {
      await interleave(sides, reps, {
        async take(side, repetition) {
          await run.next(
            `2^${logn}, ${callers} proofs at once, ${sideNames[side]}: repetition ${repetition} of ${reps}`,
          );
          const { ms } = await prover.prove(side, callers);
          const told = { system, witness, logn, side, concurrency: callers, repetition, ms };
          run.emit({ event: 'proving', ...told, secondsPerProof: ms / 1000 / callers });
          run.advance(callers * weightOf(2 ** logn));
        },
      });
    }
  } finally {
    await prover.close();
  }
}

/*
 * snarkjs with a key of one proof system. A proof is made by snarkjs with its own MSMs or those of the
 * library, or by the library alone.
 */

interface ProofTime {
  readonly ms: number;
  /**
   * Milliseconds of the proof that MSMs took; of several proofs at once the sum. null for the
   * library alone, whose parts overlap.
   */
  readonly msmMs: number | null;
}

interface Made {
  readonly proof: object;
  readonly publicSignals: readonly string[];
}

/** A key that the library proves with. */
interface OwnKey {
  prove(witness: Uint8Array): Promise<Made>;
  destroy(): void;
}

const openers: Readonly<Record<System, (zkey: Uint8Array, options: ProvingKeyOptions) => Promise<OwnKey>>> = {
  groth16: openGroth16,
  plonk: openPlonk,
  fflonk: openFflonk,
};

interface ProvingCurve extends KeyCurve {
  readonly G1: FfGroup & KeyCurve['G1'];
  readonly G2: FfGroup & KeyCurve['G2'];
  terminate(): Promise<void>;
}

const theirNames: Readonly<Partial<Record<string, string>>> = {
  bn254: 'bn128',
  'bls12-381': 'bls12381',
} satisfies Record<FfCurveName, string>;

const file = (data: Uint8Array) => ({ type: 'mem' as const, data });

/** @throws Error if snarkjs is not installed */
export async function loadSnarkjs(): Promise<typeof import('snarkjs')> {
  // hidden from bundlers, because snarkjs is under the GPL and no part of our builds
  const name = 'snarkjs';
  return import(/* @vite-ignore */ name).catch((cause: unknown) => {
    throw new Error('snarkjs is not installed; run npm install snarkjs', { cause });
  });
}

type ProvingGroup = ProvingCurve['G1' | 'G2'];

/** Runs `work` with the given MSM function of each group, and adds up their time. */
async function timed<Result>(
  groups: readonly ProvingGroup[],
  functions: readonly MultiExpAffine[],
  work: () => Promise<Result>,
) {
  let msmMs = 0;
  const before = groups.map(({ multiExpAffine }) => multiExpAffine);
  for (const [i, group] of groups.entries()) {
    const compute = functions[i] as MultiExpAffine;
    group.multiExpAffine = async (...given) => {
      const begun = performance.now();
      const sum = await compute.apply(group, given);
      msmMs += performance.now() - begun;
      return sum;
    };
  }
  const begun = performance.now();
  try {
    const made = await work();
    return { made, ms: performance.now() - begun, msmMs };
  } finally {
    for (const [i, group] of groups.entries()) group.multiExpAffine = before[i] as MultiExpAffine;
  }
}

async function setUp(system: UniversalSystem, curve: FfCurveName, logn: number, r1cs: Uint8Array) {
  const zkey: MemoryFile = { type: 'mem' };
  // FFLONK takes nine powers for each row, PLONK fewer
  await system.setup(file(r1cs), file(await knownPowers(curve, logn, 9 * 2 ** logn + 18)), zkey);
  return file(zkey.data as Uint8Array);
}

/**
 * @param logn logarithm of the size of the domain
 * @throws Error if snarkjs is not installed, or does not support the curve
 */
export async function openProver(
  curve: string,
  logn: number,
  onKeys: (share: number) => void,
  name: System = 'groth16',
  witness: Witness = 'dense',
) {
  const theirName = theirNames[curve];
  if (theirName === undefined)
    throw new Error(`curve: snarkjs does not support ${curve}; use ${Object.keys(theirNames).join(' or ')}`);
  const snarkjs = await loadSnarkjs();
  const ff = (await snarkjs.curves.getCurveFromName(theirName)) as unknown as ProvingCurve;
  // Groth16's domain also has rows for the 1 and the public signal, PLONK's for the public signal
  const constraints = 2 ** logn - (name === 'groth16' ? 2 : 3);
  const circuit = makeCircuit(BigInt(ff.r), constraints, witness);
  const system = snarkjs[name];
  const zkey =
    name === 'groth16'
      ? file(await makeKeys(ff, circuit, onKeys))
      : await setUp(snarkjs[name], curve as FfCurveName, logn, circuit.r1cs);
  const key = await snarkjs.zKey.exportVerificationKey(zkey);
  const groups = [ff.G1, ff.G2];
  const plain = groups.map(({ multiExpAffine }) => multiExpAffine);
  let libraryKey: OwnKey | null = null;
  let ours: { readonly functions: readonly MultiExpAffine[]; restore(): void } | null = null;

  type ProveAll = (prove: () => Promise<Made>) => Promise<Made[]>;

  const proveAlone = async (proveAll: ProveAll) => {
    const opened = libraryKey;
    if (opened === null) throw new Error('call open() before proving with the library alone');
    const begun = performance.now();
    const made = await proveAll(() => opened.prove(circuit.witness));
    return { made, ms: performance.now() - begun, msmMs: null };
  };

  const proveWith = (side: 'plain' | 'ours', proveAll: ProveAll) => {
    const functions = side === 'plain' ? plain : ours?.functions;
    if (functions === undefined) throw new Error('call accelerate() before proving with the library');
    return timed(groups, functions, () => proveAll(() => system.prove(zkey, file(circuit.witness))));
  };

  return {
    constraints: circuit.constraints.length,

    /** Enables proofs with the library. */
    async accelerate(options: AccelerateOptions): Promise<void> {
      const restore = await accelerate(snarkjs, { ...options, measure: false });
      ours = { functions: groups.map(({ multiExpAffine }) => multiExpAffine), restore };
    },

    /** Enables proofs by the library alone. */
    async open(options: ProvingKeyOptions): Promise<void> {
      libraryKey = await openers[name](zkey.data, options);
    },

    /**
     * Makes proofs at once, and verifies them.
     *
     * @throws Error if a proof does not verify, or the library fell back to snarkjs
     */
    async prove(side: Side, count = 1): Promise<ProofTime> {
      const proveAll: ProveAll = (prove) => Promise.all(Array.from({ length: count }, prove));
      const { made, ms, msmMs } = await (side === 'whole' ? proveAlone(proveAll) : proveWith(side, proveAll));
      for (const { proof, publicSignals } of made) {
        const isRight =
          publicSignals.join() === circuit.publicSignals.join() && (await system.verify(key, publicSignals, proof));
        if (!isRight) throw new Error(`the proof of ${sideNames[side]} does not verify`);
      }
      if (accelerate.stats.fallbacks > 0) throw new Error('the library failed, and snarkjs computed instead');
      return { ms, msmMs };
    },

    async close(): Promise<void> {
      libraryKey?.destroy();
      ours?.restore();
      await ff.terminate();
    },
  };
}
