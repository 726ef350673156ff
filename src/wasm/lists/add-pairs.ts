/**
 * Adds up buckets of sorted points: pairs of points, then pairs of these sums, until one is left in
 * each bucket.
 */
import type { Code, Local } from '../encoder/code.js';
import type { WasmModule } from '../encoder/module.js';

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
export const addPairs = (module: WasmModule, add: number, additions: number, pointBytes: number): void => {
  module.add('addPairs', { parameters: ['i32'], result: 'i32' }, (code) => {
    const writer = new PairWriter(code, additions, pointBytes);
    writer.load(code.parameter(0));
    writer.queueBuckets();
    writer.end(add);
  });
};
