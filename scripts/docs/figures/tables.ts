/** Tables of figures, for README.md and docs/reference/performance.md. */
import { code, table } from '../markdown.js';
import { readExperiments } from './experiments.js';
import type { Figures } from './measured.js';
import { grid, list, measurements, power, ratioText, sourceOf } from './table-parts.js';

/** Returns the sizes, callers and so on for which a figure exists: `cpu-g1-12-ms` has 12. */
const valuesOf = (figures: Figures, pattern: RegExp): number[] => [
  ...new Set(figures.all.flatMap(({ id }) => pattern.exec(id)?.[1] ?? []).map(Number)),
];

const provers = (figures: Figures): string => {
  const systems = { groth16: 'Groth16', plonk: 'PLONK', fflonk: 'FFLONK' };
  const cell = (id: string): string => (figures.has(id) ? figures.text(id) : '');
  return table(
    ['proof system', 'domain', 'snarkjs', 'with the library’s MSMs', 'whole proof by the library', ''],
    Object.entries(systems).flatMap(([system, title]) =>
      valuesOf(figures, new RegExp(`^proof-${system}-(\\d+)-snarkjs-ms$`)).map((logn) => {
        const id = `proof-${system}-${logn}`;
        const measured = ['snarkjs-ms', 'hooks', 'whole-ms', 'whole'].map((what) => cell(`${id}-${what}`));
        return [title, power(logn), ...measured];
      }),
    ),
  );
};

const proverSources = (figures: Figures): string =>
  [
    ...new Set(
      figures.all
        .filter(({ id, supersededBy }) => id.startsWith('proof-') && supersededBy === undefined)
        .flatMap((figure) => figures.sourcesOf(figure).map(({ file }) => file)),
    ),
  ]
    .map((file) => `- ${sourceOf(figures, file)}.`)
    .join('\n');

const kept = (is: boolean | null): string => (is === null ? '' : is ? 'yes' : 'no');

const experiments = (): string =>
  table(
    ['id', 'what', 'ratio', 'kept'],
    readExperiments()
      .filter(({ supersededBy }) => supersededBy === undefined)
      .map(({ id, what, kept: is, ...compared }) => [code(id), what, ratioText(compared), kept(is)]),
  );

/** Returns a table of sums beside ffjavascript. @param prefix of its figures */
const besideFfjavascript = (figures: Figures, prefix: string): string =>
  grid(
    figures,
    'n',
    valuesOf(figures, new RegExp(`^${prefix}-g1-(\\d+)-ms$`)),
    Object.entries({ g1: 'BN254 G1', g2: 'BN254 G2', bls: 'BLS12-381 G1' }).flatMap(
      ([group, title]) =>
        [
          [title, (n: number) => `${prefix}-${group}-${n}-ms`],
          ['ffjavascript', (n: number) => `${prefix}-${group}-${n}-peer-ms`],
          ['ours', (n: number) => `${prefix}-${group}-${n}-ratio`],
        ] as const,
    ),
  );

/** Returns the columns of the longer stages of an MSM. @param prefix of their figures */
const stageColumns = (prefix: string) =>
  ['sort', 'walk', 'combine', 'reduce'].map((stage) => [stage, (n: number) => `${prefix}-${n}-${stage}`] as const);

/** Tables by name. */
/** Proofs of one system beside snarkjs. */
const proofsOnH200 = (figures: Figures, title: string, prefix: string): string =>
  grid(figures, title, valuesOf(figures, new RegExp(`^${prefix}-(\\d+)-whole$`)), [
    ['snarkjs', (n) => `${prefix}-${n}-snarkjs-ms`],
    ['snarkjs with the library’s MSMs', (n) => `${prefix}-${n}-hooks-ms`],
    ['', (n) => `${prefix}-${n}-hooks`],
    ['the library alone', (n) => `${prefix}-${n}-whole-ms`],
    ['', (n) => `${prefix}-${n}-whole`],
  ]);

export const tables: Readonly<Record<string, (figures: Figures) => string>> = {
  provers,
  'provers-sources': proverSources,
  experiments,
  cpu: (figures) => besideFfjavascript(figures, 'cpu'),
  'cpu-fma': (figures) => besideFfjavascript(figures, 'fma'),
  'provers-bits': (figures) =>
    grid(figures, 'Groth16', valuesOf(figures, /^bits-groth16-(\d+)-whole$/), [
      ['snarkjs', (n) => `bits-groth16-${n}-snarkjs-ms`],
      ['with the library’s MSMs', (n) => `bits-groth16-${n}-hooks`],
      ['whole proof by the library', (n) => `bits-groth16-${n}-whole-ms`],
      ['', (n) => `bits-groth16-${n}-whole`],
    ]),
  runtimes: (figures) =>
    list(
      figures,
      ['BN254 G1, 2^16, one thread', 'total time', 'beside ffjavascript'],
      [
        ['Node 24', 'runtime-node24-16-ms', 'runtime-node24-16'],
        ['Deno', 'runtime-deno-16-ms', 'runtime-deno-16'],
        ['Bun', 'runtime-bun-16-ms', 'runtime-bun-16'],
        ['Node 20', 'runtime-node20-16-ms', 'runtime-node20-16'],
      ],
    ),
  native: (figures) =>
    grid(figures, 'n', valuesOf(figures, /^native-(\d+)-ours-ms$/), [
      ['in WebAssembly', (n) => `native-${n}-ours-ms`],
      ['arkworks', (n) => `native-${n}-ark-ms`],
      ['ours', (n) => `native-${n}-ark`],
      ['gnark-crypto', (n) => `native-${n}-gnark-ms`],
      ['ours', (n) => `native-${n}-gnark`],
    ]),
  transforms: (figures) =>
    grid(figures, 'n', valuesOf(figures, /^ntt-(\d+)-natural-ms$/), [
      ['natural to natural', (n) => `ntt-${n}-natural-ms`],
      ['natural to reversed', (n) => `ntt-${n}-natural-reversed-ms`],
      ['reversed to natural', (n) => `ntt-${n}-reversed-natural-ms`],
      ['ffjavascript', (n) => `ntt-${n}-peer-ms`],
      ['ours, natural to natural', (n) => `ntt-${n}-ratio`],
    ]),
  'native-transforms': (figures) =>
    grid(figures, 'n', valuesOf(figures, /^native-ntt-(\d+)-ours-ms$/), [
      ['in WebAssembly', (n) => `native-ntt-${n}-ours-ms`],
      ['arkworks', (n) => `native-ntt-${n}-ark-ms`],
      ['ours', (n) => `native-ntt-${n}-ark`],
      ['to reversed, in WebAssembly', (n) => `native-ntt-${n}-ours-reversed-ms`],
      ['gnark-crypto', (n) => `native-ntt-${n}-gnark-reversed-ms`],
      ['ours', (n) => `native-ntt-${n}-gnark-reversed`],
    ]),
  'cpu-threads': (figures) =>
    grid(
      figures,
      'workers',
      valuesOf(figures, /^threads-(\d+)-warm$/),
      [
        ['2^14 on a warm engine', (workers) => `threads-${workers}-warm`],
        ['÷ without workers', (workers) => `threads-${workers}-ratio`],
        ['first call ÷ a warm one', (workers) => `threads-${workers}-first`],
      ],
      String,
    ),
  'cpu-distribution': (figures) =>
    grid(
      figures,
      'bucket rows a chunk',
      valuesOf(figures, /^distribution-(\d+)-even$/),
      [
        ['even', (rows) => `distribution-${rows}-even`],
        ['sparse', (rows) => `distribution-${rows}-sparse`],
        ['one bucket and noise', (rows) => `distribution-${rows}-noise`],
        ['all scalars equal', (rows) => `distribution-${rows}-equal`],
        ['one worker slowed', (rows) => `distribution-${rows}-slowed`],
      ],
      String,
    ),
  'cpu-pool': (figures) =>
    list(
      figures,
      ['quantity', 'measured'],
      [
        ['66 points, 8 workers permitted ÷ 1', 'pool-few-8'],
        ['66 points, 32 workers permitted ÷ 1', 'pool-few-32'],
        ['66 points, 64 workers permitted ÷ 1', 'pool-few-64'],
        ...[1, 2, 4, 8].map((n) => [`until ${n} worker${n === 1 ? ' is' : 's are'} ready`, `pool-ready-${n}`] as const),
      ],
    ),
  h200: (figures) =>
    grid(figures, 'n', valuesOf(figures, /^h200-(\d+)-ms$/), [
      ['total time', (n) => `h200-${n}-ms`],
      ['with scalars on the GPU', (n) => `h200-${n}-resident`],
      ['the GPU’s part', (n) => `h200-${n}-gpu`],
      ...stageColumns('h200'),
      ['combine windows, on the CPU', (n) => `h200-${n}-windows`],
    ]),
  'h200-proofs': (figures) => proofsOnH200(figures, 'Groth16', 'h200-proof'),
  'h200-plonk': (figures) => proofsOnH200(figures, 'PLONK', 'h200-plonk'),
  'gpu-day': () => measurements('h200-', 'experiment on an NVIDIA H200'),
  'software-gpu': (figures) =>
    grid(figures, 'n', valuesOf(figures, /^gpu-(\d+)-ms$/), [
      ['total time', (n) => `gpu-${n}-ms`],
      ['decompose', (n) => `gpu-${n}-decompose`],
      ...stageColumns('gpu'),
      ['scratch', (n) => `gpu-${n}-scratch`],
    ]),
  inputs: (figures) =>
    grid(figures, 'n', valuesOf(figures, /^input-(\d+)-same-scalars$/), [
      ['all scalars equal', (n) => `input-${n}-same-scalars`],
      ['all points equal', (n) => `input-${n}-same-points`],
      ['three in four the same', (n) => `input-${n}-noise`],
      ['90 % zeros', (n) => `input-${n}-zeros`],
      ['32-bit scalars', (n) => `input-${n}-short`],
      ['scalars 0 and 1', (n) => `input-${n}-bits`],
      ['one scalar not zero', (n) => `input-${n}-one`],
    ]),
  targets: (figures) =>
    list(
      figures,
      ['quantity', 'measured'],
      [
        ['counted products ÷ 6·n·T, 2^16', 'work-16'],
        ['counted products ÷ 6·n·T, 2^18', 'work-18'],
        ['inversions, in products an addition, 2^16', 'inversions-16'],
        ['share of combine, reduce and combine windows in the work, 2^16', 'after-walk-16'],
        ['rate of its products ÷ rate of the product alone, 2^18', 'efficiency-18'],
        ['share of the total time that is not arithmetic, 2^16', 'not-arithmetic-16'],
        ['ten vectors of 2^12: one `msmBatch` ÷ ten calls', 'batch-12'],
        ['peak of scratch, 2^16', 'memory-16'],
        ['peak of scratch, 2^18', 'memory-18'],
        ['2^20 in 32 MiB of scratch: total time ÷ that with the default budget', 'gpu-20-tight-ratio'],
        ['new device to first result, 2^10, CPU time', 'cold-10'],
      ],
    ),
  field: (figures) =>
    list(
      figures,
      ['product, M/s', 'measured'],
      [
        ['13-bit, plain', 'field-plain'],
        ['13-bit, lazy', 'field-lazy'],
        ['13-bit, Karatsuba', 'field-karatsuba'],
        ['14-bit signed, float carries', 'field-float'],
        ['14-bit signed, shift carries', 'field-shift'],
        ['8-bit, dot4U8Packed', 'field-dot4'],
      ],
    ),
  g2: () => measurements('g2-to-g1-', 'G2 (after) beside G1 (before)'),
  precompute: () => measurements('precompute-', 'multiples of each point'),
  verify: () => measurements('verify-', 'with `verify: true` (after) and without'),
  ffjavascript: () => measurements('ffjavascript-', 'ours ÷ ffjavascript'),
  loading: (figures) =>
    list(
      figures,
      ['2^16 points', 'measured'],
      [
        ['uncompressed (`be`)', 'loading-16-be'],
        ['compressed (`gnark-compressed`)', 'loading-16-compressed'],
        ['compressed ÷ uncompressed', 'loading-16-ratio'],
      ],
    ),
  load: (figures) =>
    grid(
      figures,
      'callers',
      valuesOf(figures, /^load-(\d+)-rate$/),
      [
        ['jobs a second', (callers) => `load-${callers}-rate`],
        ['÷ total time of one caller', (callers) => `load-${callers}-ratio`],
        ['median latency', (callers) => `load-${callers}-p50`],
        ['95th percentile', (callers) => `load-${callers}-p95`],
        ['GPU idle', (callers) => `load-${callers}-idle`],
        ['coalesced', (callers) => `load-${callers}-merged`],
      ],
      String,
    ),
  'load-gains': (figures) =>
    list(
      figures,
      ['20 callers, total time ÷ with all', 'measured'],
      [
        ['without overlap', 'load-gain-overlap'],
        ['without coalescing', 'load-gain-merging'],
        ['without kept buffers', 'load-gain-kept'],
        ['64 small sums at once ÷ one after the other', 'load-together'],
        ['interactive calls of 256 scalars, alone, 95th percentile', 'load-urgent-alone'],
        ['interactive calls of 256 scalars, beside background calls of 2^12, 95th percentile', 'load-urgent-busy'],
      ],
    ),
  routing: (figures) =>
    list(
      figures,
      ['491 calls computed by', 'total time'],
      [
        ['the GPU alone', 'routing-gpu'],
        ['the CPU alone', 'routing-cpu'],
        ['both, divided', 'routing-both'],
        ['what the library chooses (`auto`)', 'routing-auto'],
        ['`auto` ÷ the CPU alone', 'routing-auto-ratio'],
      ],
    ),
  farm: () => measurements('farm-', 'workers of one CPU thread'),
};
