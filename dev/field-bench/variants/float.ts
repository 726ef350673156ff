/**
 * A product in floats, for devices with a fused multiply-add. The two-fma trick is Dekker's exact
 * product with magic constants that turn the halves into integers: Emmart, Zheng and Weems, "Faster
 * Modular Exponentiation Using Double Precision Floating Point Arithmetic on the GPU" (ARITH 2018),
 * for doubles of 52 bits and rounding towards zero. This version is for f32 and any rounding to a
 * neighbour.
 *
 * a and b are integers below 2^22, which are exact floats. From 2^45 to 2^46, floats are 2^22
 * apart. With C = 2^45, fma(a, b, C) is C + 2^22·high for an integer high of 22 bits, and its bits
 * as an integer are those of C plus high. Then fma(a, b, (C + D) − that) = D + low, with D = 3·2^22
 * and low = a·b − 2^22·high between −2^22 and 2^22. From 2^23 to 2^24 floats are 1 apart, so this
 * is exact, and its bits are those of D plus low. The subtraction is exact as well, because (3 −
 * high)·2^22 is a float.
 *
 * WGSL does not promise that fma is fused; the probe checks it. Nor does it promise that fma and a
 * subtraction are not rearranged: with literals Mesa's optimiser turns (C + D) − fma(a, b, C) into
 * fma(−a, b, D), whose low half is a rounding error. So the constants are unknown until the shader
 * runs.
 */
import { digitsOf, invert, lazyLimbs, type Modulus, montgomeryFactor } from '../../../src/field/modulus.js';
import { range } from '../../../src/field/straight-line.js';
import { type Probe, productVariant } from '../operation.js';
import { limbsStruct, unsignedLimbs } from './limbs.js';

const WIDTH = 22;
const UNIT = 2 ** WIDTH;

/** C and D of the file comment. */
const HIGH = 2 ** 45;
const LOW = 3 * 2 ** 22;

const float = (value: number): string => `${value}.0f`;

/** Returns the bits of a float as an integer. */
const bitsOf = (value: number): number => new Int32Array(Float32Array.of(value).buffer)[0] as number;

/** Returns the WGSL of a constant that compilers cannot see: chains are shorter than 2^31 steps. */
const hidden = (value: number): string => `bitcast<f32>(${bitsOf(value)}u | (config.steps >> 31u))`;

const halves = `
fn high_half(a: f32, b: f32) -> f32 {
  return fma(a, b, ${hidden(HIGH)});
}

fn low_half(a: f32, b: f32, high: f32) -> f32 {
  return fma(a, b, ${hidden(HIGH + LOW)} - high);
}

fn bits(half: f32) -> i32 {
  return bitcast<i32>(half);
}

// Converts an integer below 2^23. A conversion would do the same, at a quarter of the speed or less
// on some devices.
fn limb(digit: i32) -> f32 {
  return bitcast<f32>(digit | ${bitsOf(2 ** 23)}) - ${float(2 ** 23)};
}
`;

/**
 * Product in interleaved rows (CIOS) in columns of i32. The bits of the halves above high and low
 * are known for each column, modulo 2^32, and are subtracted at its start. Their lowest 22 bits are
 * 0, so q is correct before all of them are added.
 *
 * A column sums 2n low halves between −2^22 and 2^22, 2n high halves below 2^22, and a carry below
 * 2^10. It is less than 4n·2^22 + 2^10, which is 2^28.2 for the 18 limbs of 381 bits.
 */
const product = (m: Modulus): string[] => {
  const n = lazyLimbs(m, WIDTH);
  const p = digitsOf(m.p, WIDTH, n);
  const mask = UNIT - 1;
  /** Returns the number of pairs of limbs whose low halves are in a column. */
  const pairs = (k: number): number => Math.max(0, Math.min(k + 1, 2 * n - 1 - k));
  const columns = range(2 * n).map((k) => {
    const surplus = 2 * (pairs(k) * bitsOf(LOW) + (k > 0 ? pairs(k - 1) : 0) * bitsOf(HIGH));
    return `${Number(BigInt.asIntN(32, -BigInt(surplus)))}`;
  });
  const rows = range(n).flatMap((i) => {
    const times = (name: string, x: string, y: (k: number) => string): string[] =>
      range(n).flatMap((k) => [
        `let ${name}high${i}_${k} = high_half(${x}, ${y(k)});`,
        `let ${name}low${i}_${k} = low_half(${x}, ${y(k)}, ${name}high${i}_${k});`,
      ]);
    const first = columns[i] as string;
    const lines = [
      ...times('ab', `a.l${i}`, (k) => `b.l${k}`),
      `let u${i} = ${first} + bits(ablow${i}_0);`,
      `let q${i} = limb((u${i} * ${montgomeryFactor(m.p, WIDTH)}) & ${mask});`,
      ...times('qp', `q${i}`, (k) => float(p[k] as number)),
      `let c${i} = (u${i} + bits(qplow${i}_0)) >> ${WIDTH}u;`,
    ];
    for (const k of range(n + 1).slice(1)) {
      const terms = [
        columns[i + k] as string,
        ...(k < n ? [`bits(ablow${i}_${k})`, `bits(qplow${i}_${k})`] : []),
        `bits(abhigh${i}_${k - 1})`,
        `bits(qphigh${i}_${k - 1})`,
        ...(k === 1 ? [`c${i}`] : []),
      ];
      lines.push(`let t${i}_${k} = ${terms.join(' + ')};`);
      columns[i + k] = `t${i}_${k}`;
    }
    return lines;
  });
  const carries = range(n).map((k) => `let s${k} = ${columns[n + k]}${k > 0 ? ` + (s${k - 1} >> ${WIDTH}u)` : ''};`);
  const limbs = range(n).map((k) => `limb(${k < n - 1 ? `s${k} & ${mask}` : `s${k}`})`);
  return [...rows, ...carries, `return Limbs(${limbs.join(', ')});`];
};

/**
 * Products whose halves are hard to get right. Most have far more than 24 bits, so rounding before
 * the addition would show. They are a multiple of 2^22 plus a rest in the middle, where fma may
 * round either way, next to it, or near the ends.
 */
const adversarial = (): number[][] => {
  const rests = [1, 2 ** 10 + 1, UNIT / 2 - 1, UNIT / 2, UNIT / 2 + 1, UNIT - 2 ** 10, UNIT - 2, UNIT - 1];
  const factors = range(31).map((i) => UNIT - 1 - 2 * i ** 4);
  const pairs = factors.flatMap((a) => {
    const inverse = Number(invert(BigInt(a), BigInt(UNIT)));
    return rests.map((rest) => [a, Number((BigInt(inverse) * BigInt(rest)) % BigInt(UNIT))]);
  });
  return [...pairs, [0, 0], [1, 1], [UNIT - 1, UNIT - 1], [UNIT - 1, 1], [UNIT / 2, UNIT / 2], [UNIT / 2, 1]];
};

const probe: Probe = {
  declarations: `${limbsStruct(2, 'f32')}${halves}
fn probe(x: Limbs) -> Limbs {
  let high = high_half(x.l0, x.l1);
  return Limbs(high, low_half(x.l0, x.l1, high));
}`,
  element: 'f32',
  limbs: 2,
  operands: adversarial(),
  exact: ([a = 0, b = 0], [high = 0, low = 0]) =>
    high >= HIGH &&
    high < 2 * HIGH &&
    low >= 2 ** 23 &&
    low < 2 ** 24 &&
    BigInt(a) * BigInt(b) === BigInt(high) - BigInt(HIGH) + BigInt(low) - BigInt(LOW),
};

export const float22 = productVariant({
  variant: '22-bit, f32 fma',
  probe,
  representation: (m) => unsignedLimbs(m, WIDTH, product(m), halves, 'f32'),
  multiplyAdds: (m) => 4 * lazyLimbs(m, WIDTH) ** 2,
});
