/** Makes mutants: shaders with one changed number or operator. */
import type { Random } from '../oracle/known-bases.js';
import type { RecordingDevice } from './recording-device.js';

/** What an operator or word becomes. */
const operators: Readonly<Record<string, string>> = {
  ...{ '<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '==', '&&': '||', '||': '&&' },
  ...{ '+': '-', '-': '+', '*': '+', '/': '*', '%': '*', '<<': '>>', '>>': '<<', '&': '|', '|': '&', '^': '|' },
  ...{ '+=': '-=', '-=': '+=', '*=': '+=', '|=': '&=', '&=': '|=', '^=': '|=' },
  ...{ true: 'false', false: 'true', min: 'max', max: 'min' },
};

/** Matches numbers, operators between spaces, and words. */
const TOKEN =
  /(?<![\w.<])(?:0x[0-9a-f]+|\d+)[ui]?(?![\w.>])|(?<= )(?:<<|>>|&&|\|\||[<>=!]=|[-+*/%&|^]=?|[<>])(?= )|\b(?:true|false)\b|\b(?:min|max)(?=\()/gi;

/** Matches lines without behaviour: attributes and declarations. */
const isInert = /^\s*(@|enable|struct|fn |\}|$)/;

/**
 * Matches lines that decide how often something runs. They stay as they are, because SwiftShader
 * does not end endless loops.
 */
const decidesHowOften = /^const |\b(for|while|loop|break|continue)\b/;

/** Returns what a token may become: another operator or word, or the number plus or minus one. */
function replacementsOf(token: string): string[] {
  const [, digits, suffix = ''] = /^(0x[0-9a-f]+|\d+)([ui]?)$/i.exec(token) ?? [];
  if (digits === undefined) return Object.hasOwn(operators, token) ? [operators[token] as string] : [];
  const value = BigInt(digits);
  return [value + 1n, ...(value > 0n ? [value - 1n] : [])].map((number) => `${number}${suffix}`);
}

/** @returns the source with one change, and a description of the change */
export function mutate(random: Random, source: string): { readonly source: string; readonly change: string } {
  const lines = source.split('\n');
  const changes = lines.flatMap((line, row) => {
    if (isInert.test(line) || decidesHowOften.test(line)) return [];
    return [...line.replace(/\/\/.*/, '').matchAll(TOKEN)].flatMap(({ 0: from, index }) =>
      replacementsOf(from).map((to) => ({ row, index, from, to })),
    );
  });
  const { row, index, from, to } = changes[random.below(changes.length)] as (typeof changes)[0];
  const line = lines[row] as string;
  lines[row] = line.slice(0, index) + to + line.slice(index + from.length);
  return { source: lines.join('\n'), change: `${row + 1}: ${from} → ${to}` };
}

const TRIES = 10;

/** Returns a pipeline with one change against another; null if no change compiles. */
export async function mutantOf(
  random: Random,
  device: RecordingDevice,
  pipeline: GPUComputePipeline,
): Promise<{ readonly pipeline: GPUComputePipeline; readonly change: string } | null> {
  const { descriptor, source } = device.madeOf(pipeline);
  const { real } = device;
  for (let i = 0; i < TRIES; i++) {
    const mutant = mutate(random, source);
    if (mutant.source === source) continue;
    real.pushErrorScope('validation');
    const module = real.createShaderModule({ code: mutant.source });
    const error = await real.popErrorScope();
    if (error !== null) continue;
    try {
      const compute = { ...descriptor.compute, module };
      return { pipeline: await real.createComputePipelineAsync({ ...descriptor, compute }), change: mutant.change };
    } catch {
      // a change such as an array without elements does not compile; try another one
    }
  }
  return null;
}
