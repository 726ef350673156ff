/** Sorts points by the bucket of their digit, with a counting sort. */
import type { Code, Local } from '../encoder/code.js';
import type { WasmModule } from '../encoder/module.js';

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
export const addSort = (module: WasmModule): void => {
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
