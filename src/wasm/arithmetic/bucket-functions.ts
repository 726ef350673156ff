/** Functions of a kernel that sort points into buckets and add each bucket up. */

import type { Code, Local } from '../encoder/code.js';
import type { WasmModule } from '../encoder/module.js';

/**
 * Bits of one window: digit + 2^(c−1) is `mask` of the 64 bits at `from`, shifted by `shift`; the
 * digits of the next scalar are `stride` bytes further. `half` is 2^(c−1). The buckets are `width`
 * from `low` on.
 */
export type WindowArguments = [
  from: number,
  stride: number,
  shift: number,
  mask: number,
  half: number,
  count: number,
  low: number,
  width: number,
];

/** Functions for buckets. Every argument is a number or an address. */
export interface BucketExports {
  /** Counts the digits of a window, by bucket: word b + 2 of `starts`. */
  countDigits(...args: [...WindowArguments, starts: number]): void;
  /** Turns the counts of `count` ≥ 1 buckets into their beginnings. @returns how many digits */
  sumCounts(starts: number, count: number): number;
  /**
   * Writes the address of each point to the place of its bucket in `row`, with the sign of its
   * digit. Afterwards word b of `starts` is where bucket b begins.
   */
  sortDigits(...args: [...WindowArguments, starts: number, row: number, point: number, pointBytes: number]): void;
  /** Computes one list of additions (`PAIR_STATE`). @returns 0 when all buckets are added up */
  addPairs(state: number): number;
}

/** Adds the functions of `BucketExports`. @param add index of the function that computes a list */
export const addBucketFunctions = (
  module: WasmModule,
  add: number,
  { additions, point }: { readonly additions: number; readonly point: number },
): void => {
  addSort(module);
  addPairs(module, add, additions, point);
};

/* Sorts points by the bucket of their digit, with a counting sort. */

/**
 * Bits of one window: digit + 2^(c−1) is `mask` of the 64 bits at `from`, shifted by `shift`. The
 * digits of the next scalar are `stride` bytes further.
 */
const WINDOW = ['from', 'stride', 'shift', 'mask', 'half'] as const;

const PARAMETERS = [...WINDOW, 'count', 'low', 'width'] as const;
type Parameters = Readonly<Record<(typeof PARAMETERS)[number], Local>>;

/** Loop over the digits of a window. */
class DigitLoop {
  readonly #code: Code;
  readonly #at: Parameters;
  readonly #digit: Local;
  readonly #bucket: Local;

  /** Takes the first parameters of the function. */
  constructor(code: Code) {
    this.#code = code;
    this.#at = Object.fromEntries(PARAMETERS.map((name, i) => [name, code.parameter(i)])) as Parameters;
    this.#digit = code.local('i32');
    this.#bucket = code.local('i32');
  }

  /** Writes the loop. @param each writes what is done for a digit whose bucket is in the range */
  write(each: (digit: Local, bucket: Local) => void, always: () => void): void {
    const code = this.#code;
    const { from, stride, shift, mask, half, count, low, width } = this.#at;
    code.loop((again) => {
      code.get(from).at('i64.load', 0).get(shift).do('i64.extend_i32_u', 'i64.shr_u', 'i32.wrap_i64');
      code.get(mask).do('i32.and').get(half).do('i32.sub').set(this.#digit);
      // |digit| − 1 − low; 0 has no bucket
      code.get(this.#digit).get(this.#digit).i32(31).do('i32.shr_s', 'i32.xor');
      code.get(this.#digit).i32(31).do('i32.shr_u', 'i32.add').i32(1).do('i32.sub').get(low).do('i32.sub');
      code.tee(this.#bucket).get(width).do('i32.lt_u');
      code.if(() => each(this.#digit, this.#bucket));
      always();
      code.get(from).get(stride).do('i32.add').set(from);
      code.get(count).i32(1).do('i32.sub').tee(count);
      again();
    });
  }
}

const WINDOW_PARAMETERS = PARAMETERS.map(() => 'i32' as const);

/** Leaves the address of word `index` of an array. */
const wordAt = (code: Code, array: Local, index: Local): void => {
  code.get(array).get(index).i32(2).do('i32.shl', 'i32.add');
};

/**
 * Adds the functions of a counting sort. `countDigits` counts the digits of a window by bucket, two
 * words further on; `sumCounts` turns counts into beginnings, one word further on; `sortDigits`
 * writes the address of each point, with the sign of its digit in bit 0, to its bucket's place, and
 * leaves the beginnings of the buckets. Digits outside the buckets `low` to `low + width` are left
 * out.
 */
const addSort = (module: WasmModule): void => {
  module.add('countDigits', { parameters: [...WINDOW_PARAMETERS, 'i32'] }, (code) => {
    const starts = code.parameter(8);
    const at = code.local('i32');
    new DigitLoop(code).write(
      (_, bucket) => {
        wordAt(code, starts, bucket);
        code.tee(at).get(at).at('i32.load', 8).i32(1).do('i32.add').at('i32.store', 8);
      },
      () => undefined,
    );
  });
  module.add('sumCounts', { parameters: ['i32', 'i32'], result: 'i32' }, (code) => {
    const [starts, count] = [code.parameter(0), code.parameter(1)];
    const sum = code.local('i32');
    code.loop((again) => {
      code.get(starts).get(starts).at('i32.load', 8).get(sum).do('i32.add').tee(sum).at('i32.store', 8);
      code.get(starts).i32(4).do('i32.add').set(starts);
      code.get(count).i32(1).do('i32.sub').tee(count);
      again();
    });
    code.get(sum);
  });
  module.add('sortDigits', { parameters: [...WINDOW_PARAMETERS, 'i32', 'i32', 'i32', 'i32'] }, (code) => {
    const [starts, row, point, pointBytes] = [8, 9, 10, 11].map((i) => code.parameter(i)) as [
      Local,
      Local,
      Local,
      Local,
    ];
    const [at, place] = [code.local('i32'), code.local('i32')];
    new DigitLoop(code).write(
      (digit, bucket) => {
        wordAt(code, starts, bucket);
        code.tee(at).at('i32.load', 4).set(place);
        code.get(at).get(place).i32(1).do('i32.add').at('i32.store', 4);
        wordAt(code, row, place);
        code.get(point).get(digit).i32(31).do('i32.shr_u', 'i32.or').at('i32.store', 0);
      },
      () => code.get(point).get(pointBytes).do('i32.add').set(point),
    );
  });
};

/*
 * Adds up buckets of sorted points: pairs of points, then pairs of these sums, until one is left in
 * each bucket.
 */

/** State of the summation: words at an address. */
export const PAIR_STATE = {
  /** Addresses of the sorted points, of the beginnings of buckets, and of their sizes. */
  row: 0,
  starts: 4,
  sizes: 8,
  /** Number of buckets. */
  count: 12,
  /** Bucket and pair of it that are next. */
  bucket: 16,
  pair: 20,
  /** Buckets that will have more than one point after this level. */
  open: 24,
  /** Address of the input points, and their bytes. Other addresses are of sums, overwritten. */
  inputs: 28,
  inputBytes: 32,
  /** Addresses of the sums of buckets, and of the next other sum. */
  sums: 36,
  next: 40,
  /** Address of the list of additions. */
  list: 44,
} as const;

export const PAIR_STATE_BYTES = 48;

/** Words of the state that a call changes. */
const CHANGED = ['bucket', 'pair', 'open', 'next'] as const;

/** Writes the function. */
class PairWriter {
  readonly #code: Code;
  readonly #additions: number;
  readonly #pointBytes: number;
  /** Words of the state. */
  readonly #at: Readonly<Record<keyof typeof PAIR_STATE, Local>>;
  /** The bucket: its points and pairs, and the address of its first point. */
  readonly #size: Local;
  readonly #pairs: Local;
  readonly #start: Local;
  /** Address of the next item of the list, and the number of items. */
  readonly #item: Local;
  readonly #queued: Local;

  constructor(code: Code, additions: number, pointBytes: number) {
    this.#code = code;
    this.#additions = additions;
    this.#pointBytes = pointBytes;
    this.#at = code.named('i32', ...(Object.keys(PAIR_STATE) as (keyof typeof PAIR_STATE)[]));
    const { size, pairs, start, item, queued } = code.named('i32', 'size', 'pairs', 'start', 'item', 'queued');
    [this.#size, this.#pairs, this.#start, this.#item, this.#queued] = [size, pairs, start, item, queued];
  }

  load(state: Local): void {
    for (const [name, local] of Object.entries(this.#at) as [keyof typeof PAIR_STATE, Local][])
      this.#code.get(state).at('i32.load', PAIR_STATE[name]).set(local);
    this.#code.get(this.#at.list).set(this.#item);
  }

  store(state: Local): void {
    for (const name of CHANGED) this.#code.get(state).get(this.#at[name]).at('i32.store', PAIR_STATE[name]);
  }

  /** Leaves the address of word `index` of an array. */
  #wordAt(array: Local, index: Local): void {
    this.#code.get(array).get(index).i32(2).do('i32.shl', 'i32.add');
  }

  #increase(local: Local, by: number): void {
    this.#code.get(local).i32(by).do('i32.add').set(local);
  }

  /** Leaves whether an operand is an input point. */
  #isInput(operand: Local): void {
    const { inputs, inputBytes } = this.#at;
    this.#code.get(operand).get(inputs).do('i32.sub').get(inputBytes).do('i32.lt_u');
  }

  /**
   * Sets `to` to one of two operands that is a sum. The first sum of two input points has the place
   * of the bucket's sum, so that later sums with it stay there; others have a new place.
   */
  #choosePlace(to: Local, P: Local, Q: Local): void {
    const code = this.#code;
    const { bucket, pair, sums, next } = this.#at;
    const overwrite = (operand: Local) => (): void => {
      code.get(operand).i32(-2).do('i32.and').set(to);
    };
    const takeNew = (): void => {
      code.get(next).set(to);
      this.#increase(next, this.#pointBytes);
    };
    const takeSum = (): void => {
      code.get(sums).get(bucket).i32(this.#pointBytes).do('i32.mul', 'i32.add').set(to);
    };
    this.#isInput(P);
    code.if(() => {
      this.#isInput(Q);
      code.if(() => {
        code.get(pair);
        code.if(takeNew, takeSum);
      }, overwrite(Q));
    }, overwrite(P));
  }

  /** Queues the next pair of the bucket, and puts the place of its sum into the row. */
  #queue(to: Local, P: Local, Q: Local): void {
    const code = this.#code;
    const { pair } = this.#at;
    code.get(this.#start).get(pair).i32(3).do('i32.shl', 'i32.add').tee(P).at('i32.load', 4).set(Q);
    code.get(P).at('i32.load', 0).set(P);
    this.#choosePlace(to, P, Q);
    for (const [i, value] of [to, P, Q].entries())
      code
        .get(this.#item)
        .get(value)
        .at('i32.store', 4 * i);
    this.#increase(this.#item, 12);
    this.#increase(this.#queued, 1);
    this.#wordAt(this.#start, pair);
    code.get(to).at('i32.store', 0);
    this.#increase(pair, 1);
  }

  /** Moves the point that is left over, and stores how many points the bucket has now. */
  #endLevel(): void {
    const code = this.#code;
    const { sizes, bucket, open } = this.#at;
    code.get(this.#size).i32(1).do('i32.and');
    code.if(() => {
      this.#wordAt(this.#start, this.#pairs);
      this.#wordAt(this.#start, this.#size);
      code.i32(4).do('i32.sub').at('i32.load', 0).at('i32.store', 0);
    });
    code.get(this.#size).get(this.#pairs).do('i32.sub').set(this.#size);
    this.#wordAt(sizes, bucket);
    code.get(this.#size).at('i32.store', 0);
    code.get(open).get(this.#size).i32(1).do('i32.gt_s', 'i32.add').set(open);
  }

  /** Queues pairs of the bucket until it has no more, or the list is full. */
  #queueBucket(): void {
    const code = this.#code;
    const { row, starts, bucket, pair } = this.#at;
    const { to, P, Q } = code.named('i32', 'to', 'P', 'Q');
    code.get(this.#size).i32(1).do('i32.shr_u').set(this.#pairs);
    code.get(row);
    this.#wordAt(starts, bucket);
    code.at('i32.load', 0).i32(2).do('i32.shl', 'i32.add').set(this.#start);
    code.loop((again) => {
      this.#queue(to, P, Q);
      code.get(pair).get(this.#pairs).do('i32.lt_s');
      code.get(this.#queued).i32(this.#additions).do('i32.lt_s', 'i32.and');
      again();
    });
    code.get(pair).get(this.#pairs).do('i32.eq');
    code.if(() => this.#endLevel());
  }

  /** Queues pairs of all buckets from the next one on, until the list is full. */
  queueBuckets(): void {
    const code = this.#code;
    const { sizes, bucket, pair, count } = this.#at;
    code.loop((again) => {
      this.#wordAt(sizes, bucket);
      code.at('i32.load', 0).tee(this.#size).i32(1).do('i32.gt_s');
      code.if(
        () => this.#queueBucket(),
        () => code.get(pair).set(this.#pairs),
      );
      code.get(pair).get(this.#pairs).do('i32.eq');
      code.if(() => {
        code.i32(0).set(pair);
        this.#increase(bucket, 1);
      });
      code.get(bucket).get(count).do('i32.lt_s');
      code.get(this.#queued).i32(this.#additions).do('i32.lt_s', 'i32.and');
      again();
    });
  }

  /** Computes the list, and leaves whether more are needed. */
  end(add: number): void {
    const code = this.#code;
    const { bucket, count, open, list } = this.#at;
    const more = code.local('i32');
    code.get(list).get(this.#queued).call(add);
    code.i32(1).set(more);
    code.get(bucket).get(count).do('i32.eq');
    code.if(() => {
      // the next level, if some bucket needs one
      code.get(open).i32(0).do('i32.ne').set(more);
      code.i32(0).set(bucket).i32(0).set(open);
    });
    this.store(code.parameter(0));
    code.get(more);
  }
}

/**
 * Adds the function `addPairs` (state) that computes one list of additions. It returns 0 when every
 * bucket has at most one point.
 *
 * @param add index of the function that computes a list
 * @param additions of a list at most
 */
const addPairs = (module: WasmModule, add: number, additions: number, pointBytes: number): void => {
  module.add('addPairs', { parameters: ['i32'], result: 'i32' }, (code) => {
    const writer = new PairWriter(code, additions, pointBytes);
    writer.load(code.parameter(0));
    writer.queueBuckets();
    writer.end(add);
  });
};
