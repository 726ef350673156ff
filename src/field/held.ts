/**
 * Constants of products as members of a private variable, `held`. SwiftShader's compiler loads
 * every literal through a 64-bit address; constants on the stack take a third less code, and a walk
 * a fifth less time (docs/reference/performance.md). They are computed from a zero that the
 * compiler cannot see through. Only frequent constants are held, because others gain nothing.
 */
import type { TemplateView } from '../shaders/template.js';

/** A program as `body` returns it. */
interface Body {
  readonly statements: readonly { readonly statement: string }[];
  readonly result: string;
}

/** Literals in WGSL. Digits within a name follow a letter, so they do not match. */
const LITERAL = /(?<![\w.])\d+(?:u|\.0)(?!\w)/g;

const nameOf = (literal: string): string =>
  literal.endsWith('u') ? `u${literal.slice(0, -1)}` : `f${literal.slice(0, -2)}`;

/** Returns WGSL of the literal, given a variable `zero` that is 0. */
const valueWgsl = (literal: string): string => {
  if (literal.endsWith('u')) return `${literal} ^ zero`;
  const [bits] = new Uint32Array(Float32Array.of(Number(literal)).buffer);
  return `bitcast<f32>(${bits}u ^ zero)`;
};

/** Returns the literals that a program contains `least` times or more. */
export const frequentLiterals = ({ statements }: Body, least: number): ReadonlySet<string> => {
  const counts = new Map<string, number>();
  for (const { statement } of statements) {
    for (const [literal] of statement.matchAll(LITERAL)) counts.set(literal, (counts.get(literal) ?? 0) + 1);
  }
  return new Set([...counts].filter(([, count]) => count >= least).map(([literal]) => literal));
};

/** Returns the program with these literals read from the variable `held`. */
export const withHeld = ({ statements, result }: Body, literals: ReadonlySet<string>): Body => ({
  statements: statements.map(({ statement }) => ({
    statement: statement.replace(LITERAL, (literal) => (literals.has(literal) ? `held.${nameOf(literal)}` : literal)),
  })),
  result,
});

/** Returns the view of the members of `held`. */
export const heldView = (literals: ReadonlySet<string>): TemplateView => ({
  constants: [...literals].map((literal) => ({
    name: nameOf(literal),
    type: literal.endsWith('u') ? 'u32' : 'f32',
    value: valueWgsl(literal),
  })),
});
