/**
 * Constants of products as members of a private variable. SwiftShader's compiler reads a literal through its 64-bit address, every time; what
 * lies on the stack takes a third less code, and a walk a fifth less time (docs/performance.md). So they are computed from a zero that the
 * compiler does not know to be one. Only what a product uses again and again: the others only take room.
 */
import type { TemplateView } from '../shaders/template.js';

/** A program as `body` gives it. */
interface Body {
  readonly statements: readonly { readonly statement: string }[];
  readonly result: string;
}

/** Literals of WGSL: in names there is a letter before the digits. */
const LITERAL = /(?<![\w.])\d+(?:u|\.0)(?!\w)/g;

const nameOf = (literal: string): string =>
  literal.endsWith('u') ? `u${literal.slice(0, -1)}` : `f${literal.slice(0, -2)}`;

/** WGSL of the literal, where `zero` is 0. */
const valueWgsl = (literal: string): string => {
  if (literal.endsWith('u')) return `${literal} ^ zero`;
  const [bits] = new Uint32Array(Float32Array.of(Number(literal)).buffer);
  return `bitcast<f32>(${bits}u ^ zero)`;
};

/** The literals that stand in a program `least` times or more. */
export const frequentLiterals = ({ statements }: Body, least: number): ReadonlySet<string> => {
  const counts = new Map<string, number>();
  for (const { statement } of statements) {
    for (const [literal] of statement.matchAll(LITERAL)) counts.set(literal, (counts.get(literal) ?? 0) + 1);
  }
  return new Set([...counts].filter(([, count]) => count >= least).map(([literal]) => literal));
};

/** A program that reads these literals from the variable `held`. */
export const withHeld = ({ statements, result }: Body, literals: ReadonlySet<string>): Body => ({
  statements: statements.map(({ statement }) => ({
    statement: statement.replace(LITERAL, (literal) => (literals.has(literal) ? `held.${nameOf(literal)}` : literal)),
  })),
  result,
});

/** The members of `held`. */
export const heldView = (literals: ReadonlySet<string>): TemplateView => ({
  constants: [...literals].map((literal) => ({
    name: nameOf(literal),
    type: literal.endsWith('u') ? 'u32' : 'f32',
    value: valueWgsl(literal),
  })),
});
