/** The steps of a day with a GPU, the most important first: correctness before speed. */
export interface Step {
  readonly name: string;
  readonly about: string;
  /** Arguments of `npm run bench`. */
  readonly args: string;
  /** The same for a rehearsal on a software adapter. */
  readonly quick: string;
  /** Time limit in seconds; a GPU needs less. */
  readonly mostS: number;
}

export const steps: readonly Step[] = [
  { name: 'self-test', about: 'every product, with tables', args: 'self-test', quick: 'self-test', mostS: 60 },
  {
    name: 'right',
    about: 'the core cases, of 2^10 to 2^16',
    args: 'check --logn 10,12,14,16 --case core --reps 1',
    quick: 'check --logn 8 --case core --reps 1',
    mostS: 90,
  },
  {
    name: 'right, large',
    about: 'random points and scalars, up to 2^20',
    args: 'check --logn 18,20 --case points=distinct,scalars=random --reps 2',
    quick: 'check --logn 12 --case points=distinct,scalars=random --reps 1',
    mostS: 60,
  },
  {
    name: 'sizes',
    about: '2^10 to 2^20',
    args: 'run --logn 10,12,14,16,18,20 --reps 7 --peers none',
    quick: 'run --logn 10,12 --reps 2 --peers none',
    mostS: 120,
  },
  {
    name: 'coordinates',
    about: 'extended against affine sums in the walk',
    args: 'run --logn 16,18 --reps 7 --walkercoords affine,xyzz --fieldproduct dot4,fma',
    quick: 'run --logn 10 --reps 2 --walkercoords affine,xyzz',
    mostS: 90,
  },
  {
    name: 'tasks',
    about: 'how many threads the chip has room for',
    args: 'run --logn 18 --reps 5 --walkertasks 65536,131072,262144,524288 --walkerentries 8,16,32',
    quick: 'run --logn 10 --reps 2 --walkertasks 2048,4096',
    mostS: 90,
  },
  {
    name: 'combining',
    about: 'long and short runs of combining and of the reduction',
    args: 'run --logn 16 --reps 12 --a.combinebits 4 --b.combinebits 2',
    quick: 'run --logn 10 --reps 4 --a.combinebits 4 --b.combinebits 2',
    mostS: 60,
  },
  { name: 'calibrate', about: 'the best tuning, by calibrate()', args: 'calibrate', quick: 'calibrate', mostS: 60 },
  {
    name: 'products',
    about: 'the whole MSM with each field product',
    args: 'run --logn 16 --reps 7 --fieldproduct unsigned,fma,dot4',
    quick: 'run --logn 10 --reps 3 --fieldproduct unsigned,fma',
    mostS: 60,
  },
  {
    name: 'private against workgroup',
    about: 'placement of the prefix products',
    args: 'run --logn 16 --reps 12 --a.walkerpriv 1 --b.walkerpriv 0',
    quick: 'run --logn 10 --reps 4 --a.walkerpriv 1 --b.walkerpriv 0',
    mostS: 60,
  },
  {
    name: 'field',
    about: 'field products and inversions alone',
    args: 'field',
    quick: 'field --reps 2 --ms 10',
    mostS: 90,
  },
  {
    name: 'transforms',
    about: 'number-theoretic transforms, up to 2^20',
    args: 'run --op ntt --logn 14,16,18,20 --reps 9 --peers none',
    quick: 'run --op ntt --logn 6,10 --reps 2 --peers none',
    mostS: 90,
  },
  {
    name: 'targets',
    about: 'the performance targets of the library',
    args: 'targets --logn 16 --reps 5',
    quick: 'targets --logn 10 --reps 2 --rows small',
    mostS: 180,
  },
  {
    name: 'proofs',
    about: 'Groth16 by snarkjs, with and without the library, and several proofs at once',
    args: 'proofs --logn 12,14 --reps 6 --concurrency 1,5,10,20',
    quick: 'proofs --logn 8 --reps 2 --backend cpu --concurrency 2',
    mostS: 180,
  },
  {
    name: 'load',
    about: 'sums of many callers at once',
    args: 'load --logn 14 --reps 6',
    quick: 'load --logn 6 --jobs 8 --concurrency 1,4 --reps 1',
    mostS: 120,
  },
  {
    name: 'cpu-distribution',
    about: 'bucket rows to the threads of its cores',
    args: 'cpu-distribution --logn 16',
    quick: 'cpu-distribution --logn 10 --reps 1',
    mostS: 240,
  },
  {
    name: 'cpu-pool',
    about: 'start and memory of workers on its cores',
    args: 'cpu-pool --logn 16',
    quick: 'cpu-pool --logn 10 --reps 1',
    mostS: 120,
  },
];
