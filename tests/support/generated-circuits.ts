/** Circuits of circom that are drawn by fast-check, and inputs for them. */
import * as fc from 'fast-check';

/** An input signal. */
interface DrawnInput {
  readonly name: string;
  /** Lengths of its arrays; none for one value. */
  readonly dimensions: readonly number[];
  /** True if constraints want each of its values to be 0 or 1. */
  readonly isBits: boolean;
  readonly isPublic: boolean;
}

/** A circuit, and how it is compiled. */
export interface DrawnCircuit {
  readonly source: string;
  readonly inputs: readonly DrawnInput[];
  readonly level: 0 | 1 | 2;
  readonly prime: 'bn128' | 'bls12381';
}

/** A signal that follows from earlier ones, which two draws choose. */
interface Step {
  readonly kind: number;
  readonly left: number;
  readonly right: number;
  readonly constant: bigint;
}

/** Statements that define a signal by two others and a constant. */
const statements: readonly ((to: string, x: string, y: string, constant: bigint) => string)[] = [
  (to, x, y, constant) => `${to} <== ${x} * ${y} + ${constant};`,
  (to, x, y, constant) => `${to} <== ${constant} * ${x} - ${y};`,
  (to, x, y) => `${to} <-- ${x} == ${y} ? 1 : 0; ${to} * (${to} - 1) === 0;`,
  (to, x, y) => `${to} <-- ${x} < ${y} || ${x} > 2 * ${y};`,
  (to, x, y, constant) => `${to} <-- (${x} >> ${constant % 300n}) & ${y} ^ ${constant};`,
  (to, x, y, constant) => `${to} <-- ${x} \\ ${constant + 1n} + ${y} % ${constant + 1n};`,
  (to, x, y) => `${to} <-- ${y} == 0 ? 0 : ${x} / ${y}; log("quotient", ${x}, ${y});`,
  (to, x, y, constant) => `${to} <-- power(${x}, ${constant % 50n}) - ${y};`,
  (to, x, y, constant) =>
    `component c${to} = Dot(${1n + (constant % 4n)}); c${to}.x <== ${x}; c${to}.y <== ${y}; ${to} <== c${to}.out;`,
];

const library = `pragma circom 2.0.0;
function power(x, n) { var result = 1; for (var i = 0; i < n; i++) { result *= x; } return result; }
template Dot(n) {
  signal input x; signal input y; signal output out;
  signal sums[n + 1]; sums[0] <== y;
  for (var i = 0; i < n; i++) { sums[i + 1] <== sums[i] * x + i; }
  out <== sums[n];
}`;

/** Yields the names of all values of an array, such as `a[1][0]`. */
const placesOf = (name: string, [length, ...inner]: readonly number[]): readonly string[] =>
  length === undefined ? [name] : Array.from({ length }, (_, i) => placesOf(`${name}[${i}]`, inner)).flat();

/** Writes a circuit: signals by steps, of which the last ones are outputs. */
const sourceOf = (inputs: readonly DrawnInput[], steps: readonly Step[], outputs: number): string => {
  const known = inputs.flatMap(({ name, dimensions }) => placesOf(name, dimensions));
  const lines = inputs.map(
    ({ name, dimensions }) => `signal input ${name}${dimensions.map((length) => `[${length}]`).join('')};`,
  );
  for (const { name, dimensions, isBits } of inputs) {
    if (isBits) lines.push(...placesOf(name, dimensions).map((place) => `${place} * (${place} - 1) === 0;`));
  }
  steps.forEach(({ kind, left, right, constant }, i) => {
    const name = `t${i}`;
    lines.push(`signal ${i >= steps.length - outputs ? 'output ' : ''}${name};`);
    const [x, y] = [left, right].map((draw) => known[draw % known.length] as string);
    lines.push((statements[kind] as (typeof statements)[number])(name, x as string, y as string, constant));
    known.push(name);
  });
  const listed = inputs.filter(({ isPublic }) => isPublic).map(({ name }) => name);
  return `${library}
template Drawn() {
  ${lines.join('\n  ')}
}
component main${listed.length > 0 ? ` { public [${listed.join(', ')}] }` : ''} = Drawn();
`;
};

const drawnInputs = fc
  .uniqueArray(fc.constantFrom('a', 'in', '$x', '_y0', 'leafIndex', 'path_elements'), { minLength: 1, maxLength: 4 })
  .chain((names) =>
    fc.tuple(
      ...names.map((name) =>
        fc.record({
          name: fc.constant(name),
          dimensions: fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 3 }),
          isBits: fc.boolean(),
          isPublic: fc.boolean(),
        }),
      ),
    ),
  );

const drawnStep: fc.Arbitrary<Step> = fc.record({
  kind: fc.nat(statements.length - 1),
  left: fc.nat(1000),
  right: fc.nat(1000),
  constant: fc.oneof(fc.bigInt(0n, 20n), fc.bigInt(0n, 2n ** 253n)),
});

/** Draws a circuit. */
export const drawnCircuit: fc.Arbitrary<DrawnCircuit> = fc
  .record({
    inputs: drawnInputs,
    steps: fc.array(drawnStep, { minLength: 1, maxLength: 12 }),
    outputs: fc.nat(3),
    level: fc.constantFrom(0, 1, 2),
    prime: fc.constantFrom('bn128', 'bls12381'),
  })
  .map(({ inputs, steps, outputs, level, prime }) => ({
    ...{ source: sourceOf(inputs, steps, outputs), inputs, level, prime },
  }));

/** Draws a number in a form that snarkjs takes. */
export const drawnNumber: fc.Arbitrary<unknown> = fc.oneof(
  fc.maxSafeInteger(),
  fc.bigInt({ min: -(2n ** 300n), max: 2n ** 300n }),
  fc.boolean(),
  fc.bigInt({ min: 0n, max: 2n ** 260n }).map(String),
  fc.bigInt({ min: 0n, max: 2n ** 260n }).map((each) => `0x${each.toString(16)}`),
  fc.integer({ min: -(2 ** 31), max: 2 ** 32 }),
);

const drawnBit: fc.Arbitrary<unknown> = fc.constantFrom(0, 1, 0n, 1n, false, true, '0', '1', '0x1');

/** Draws inputs, of which some do not satisfy the circuit: arrays are nested as it declares them, or flat. */
export const inputsFor = ({ inputs }: DrawnCircuit): fc.Arbitrary<object> =>
  fc.record(
    Object.fromEntries(
      inputs.map(({ name, dimensions, isBits }) => {
        const value = isBits ? fc.oneof({ weight: 30, arbitrary: drawnBit }, drawnNumber) : drawnNumber;
        const listOf = (each: fc.Arbitrary<unknown>, length: number): fc.Arbitrary<unknown> =>
          fc.array(each, { minLength: length, maxLength: length });
        const nested = dimensions.reduceRight(listOf, value);
        const flat = listOf(value, placesOf(name, dimensions).length);
        return [name, fc.oneof(nested, flat)];
      }),
    ),
  );
