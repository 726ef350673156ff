/** Functions of a kernel that sort points into buckets and add each bucket up. */

import type { Code, Local } from '../encoder/code.js';
import type { WasmModule } from '../encoder/module.js';

/**
 * Parameters of one window: digit + 2^(c−1) is `mask` of the 64 bits at `from`, shifted by `shift`;
 * the digits of the next scalar are `stride` bytes further. `half` is 2^(c−1). The buckets are
 * `width` from `low` on; digits of others are left out.
 */
const WINDOW = ['from', 'stride', 'shift', 'mask', 'half', 'count', 'low', 'width'] as const;

/** A value for each name. */
type Each<Names extends readonly string[], Value> = { -readonly [K in keyof Names]: Value };

export type WindowArguments = Each<typeof WINDOW, number>;

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
 * Writes a loop over the digits of a window.
 *
 * @param parameters of the function, first those of the window
 * @param each writes what is done for a digit whose bucket is in the range
 * @param always writes what is done after every digit
 */
const loopOverDigits = (
  code: Code,
  parameters: readonly Local[],
  each: (digit: Local, bucket: Local) => void,
  always = (): void => undefined,
): void => {
  const [from, stride, shift, mask, half, count, low, width] = parameters as Each<typeof WINDOW, Local>;
  const { digit, bucket } = code.named('i32', 'digit', 'bucket');
  code.countDown(count, () => {
    code.get(from).at('i64.load', 0).get(shift).do('i64.extend_i32_u', 'i64.shr_u', 'i32.wrap_i64');
    code.get(mask).do('i32.and').get(half).do('i32.sub').set(digit);
    // |digit| − 1 − low; 0 has no bucket
    code.get(digit).get(digit).i32(31).do('i32.shr_s', 'i32.xor');
    code.get(digit).i32(31).do('i32.shr_u', 'i32.add').i32(1).do('i32.sub').get(low).do('i32.sub');
    code.tee(bucket).get(width).do('i32.lt_u');
    code.if(() => each(digit, bucket));
    always();
    code.increase(from, stride);
  });
};

/** Types of the parameters of a window, and of further ones. */
const parametersWith = (...names: readonly string[]): 'i32'[] => [...WINDOW, ...names].map(() => 'i32');

/** Leaves the address of word `index` of an array. */
const wordAt = (code: Code, array: Local, index: Local): void => {
  code.get(array).get(index).i32(2).do('i32.shl', 'i32.add');
};

/** Adds the functions of the counting sort. */
const addSort = (module: WasmModule): void => {
  module.add('countDigits', { parameters: parametersWith('starts') }, (code, ...parameters) => {
    const starts = parameters[WINDOW.length] as Local;
    const at = code.local('i32');
    loopOverDigits(code, parameters, (_, bucket) => {
      wordAt(code, starts, bucket);
      code.tee(at).get(at).at('i32.load', 8).i32(1).do('i32.add').at('i32.store', 8);
    });
  });
  module.add('sumCounts', { parameters: ['i32', 'i32'], result: 'i32' }, (code, starts, count) => {
    const sum = code.local('i32');
    code.countDown(count, () => {
      code.get(starts).get(starts).at('i32.load', 8).get(sum).do('i32.add').tee(sum).at('i32.store', 8);
      code.increase(starts, 4);
    });
    code.get(sum);
  });
  const sortParameters = parametersWith('starts', 'row', 'point', 'pointBytes');
  module.add('sortDigits', { parameters: sortParameters }, (code, ...parameters) => {
    const [starts, row, point, pointBytes] = parameters.slice(WINDOW.length) as [Local, Local, Local, Local];
    const [at, place] = [code.local('i32'), code.local('i32')];
    loopOverDigits(
      code,
      parameters,
      (digit, bucket) => {
        wordAt(code, starts, bucket);
        code.tee(at).at('i32.load', 4).set(place);
        code.get(at).get(place).i32(1).do('i32.add').at('i32.store', 4);
        wordAt(code, row, place);
        code.get(point).get(digit).i32(31).do('i32.shr_u', 'i32.or').at('i32.store', 0);
      },
      () => code.increase(point, pointBytes),
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
  /**
   * The bucket's points and pairs, and the address of its first point; the address of the next item of
   * the list, and the number of items.
   */
  readonly #own: Readonly<Record<'size' | 'pairs' | 'start' | 'item' | 'queued', Local>>;

  constructor(code: Code, additions: number, pointBytes: number) {
    this.#code = code;
    this.#additions = additions;
    this.#pointBytes = pointBytes;
    this.#at = code.named('i32', ...(Object.keys(PAIR_STATE) as (keyof typeof PAIR_STATE)[]));
    this.#own = code.named('i32', 'size', 'pairs', 'start', 'item', 'queued');
  }

  load(state: Local): void {
    for (const [name, local] of Object.entries(this.#at) as [keyof typeof PAIR_STATE, Local][])
      this.#code.get(state).at('i32.load', PAIR_STATE[name]).set(local);
    this.#code.get(this.#at.list).set(this.#own.item);
  }

  store(state: Local): void {
    for (const name of CHANGED) this.#code.get(state).get(this.#at[name]).at('i32.store', PAIR_STATE[name]);
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
      code.increase(next, this.#pointBytes);
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
    code.get(this.#own.start).get(pair).i32(3).do('i32.shl', 'i32.add').tee(P).at('i32.load', 4).set(Q);
    code.get(P).at('i32.load', 0).set(P);
    this.#choosePlace(to, P, Q);
    for (const [i, value] of [to, P, Q].entries()) {
      code.get(this.#own.item).get(value);
      code.at('i32.store', 4 * i);
    }
    code.increase(this.#own.item, 12);
    code.increase(this.#own.queued, 1);
    wordAt(code, this.#own.start, pair);
    code.get(to).at('i32.store', 0);
    code.increase(pair, 1);
  }

  /** Moves the point that is left over, and stores how many points the bucket has now. */
  #endLevel(): void {
    const code = this.#code;
    const { sizes, bucket, open } = this.#at;
    code.get(this.#own.size).i32(1).do('i32.and');
    code.if(() => {
      wordAt(code, this.#own.start, this.#own.pairs);
      wordAt(code, this.#own.start, this.#own.size);
      code.i32(4).do('i32.sub').at('i32.load', 0).at('i32.store', 0);
    });
    code.get(this.#own.size).get(this.#own.pairs).do('i32.sub').set(this.#own.size);
    wordAt(code, sizes, bucket);
    code.get(this.#own.size).at('i32.store', 0);
    code.get(open).get(this.#own.size).i32(1).do('i32.gt_s', 'i32.add').set(open);
  }

  /** Queues pairs of the bucket until it has no more, or the list is full. */
  #queueBucket(): void {
    const code = this.#code;
    const { row, starts, bucket, pair } = this.#at;
    const { to, P, Q } = code.named('i32', 'to', 'P', 'Q');
    code.get(this.#own.size).i32(1).do('i32.shr_u').set(this.#own.pairs);
    code.get(row);
    wordAt(code, starts, bucket);
    code.at('i32.load', 0).i32(2).do('i32.shl', 'i32.add').set(this.#own.start);
    code.loop((again) => {
      this.#queue(to, P, Q);
      code.get(pair).get(this.#own.pairs).do('i32.lt_s');
      code.get(this.#own.queued).i32(this.#additions).do('i32.lt_s', 'i32.and');
      again();
    });
    code.get(pair).get(this.#own.pairs).do('i32.eq');
    code.if(() => this.#endLevel());
  }

  /** Queues pairs of all buckets from the next one on, until the list is full. */
  queueBuckets(): void {
    const code = this.#code;
    const { sizes, bucket, pair, count } = this.#at;
    code.loop((again) => {
      wordAt(code, sizes, bucket);
      code.at('i32.load', 0).tee(this.#own.size).i32(1).do('i32.gt_s');
      code.if(
        () => this.#queueBucket(),
        () => code.get(pair).set(this.#own.pairs),
      );
      code.get(pair).get(this.#own.pairs).do('i32.eq');
      code.if(() => {
        code.i32(0).set(pair);
        code.increase(bucket, 1);
      });
      code.get(bucket).get(count).do('i32.lt_s');
      code.get(this.#own.queued).i32(this.#additions).do('i32.lt_s', 'i32.and');
      again();
    });
  }

  /** Computes the list, and leaves whether more are needed. */
  end(add: number): void {
    const code = this.#code;
    const { bucket, count, open, list } = this.#at;
    const more = code.local('i32');
    code.get(list).get(this.#own.queued).call(add);
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
