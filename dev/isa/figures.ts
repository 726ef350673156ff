/** What drivers say of a kernel, each in its own words, brought to a few figures. */
import { type ChipName, chips } from './chips.js';

/** Null: the driver does not say. Units are the maker's; docs/chips.md has them. */
export interface Figures {
  readonly instructions: number;
  readonly registers: number | null;
  /** Of registers, to memory. */
  readonly spills: number | null;
  /** Bytes of private memory that are no registers. */
  readonly memory: number | null;
  readonly waves: number | null;
  /** What the driver thinks that it takes: less is better. */
  readonly cycles: number | null;
  readonly codeBytes: number | null;
  readonly compileSeconds: number;
}

export type Statistics = Readonly<Record<string, string | number>>;

/** The chip and the driver, as they call themselves. */
export const driverOf = ({ device, driver }: Statistics): string =>
  [device, driver].map((name) => String(name).trim()).join('; ');

/** Registers of an SM, and warps that it has room for, by GPU (CUDA C++ Programming Guide, "Compute Capabilities" 7.5 and 8.6). */
const WARP_REGISTERS = 65_536 / 32;
const warps: Readonly<Record<string, number>> = { turing: 32, ampere: 48 };

/** `… 1234 inst, 454.000000 cycles, …, 376:372 spills:fills` */
const fromShaderDb = (line: string): Statistics => {
  const pairs = [...line.matchAll(/([\d.]+) ([a-z]+)/g)].map(([, value, name]) => [name, Number(value)] as const);
  const [, spills, fills] = /(\d+):(\d+) spills:fills/.exec(line) ?? [];
  return { ...Object.fromEntries(pairs), spills: Number(spills ?? 0), fills: Number(fills ?? 0) };
};

export const figuresOf = (chip: ChipName, all: Statistics): Figures => {
  const number = (name: string, from = all): number => {
    const value = from[name];
    if (typeof value !== 'number') throw new Error(`the driver of ${chip} does not say '${name}'`);
    return value;
  };
  const compileSeconds = number('compile_cpu_s');
  switch (chips[chip].maker) {
    case 'amd':
      return {
        instructions: number('Instructions'),
        registers: number('VGPRs'),
        spills: number('Spilled VGPRs') + number('Spilled SGPRs'),
        memory: number('Scratch size'),
        waves: number('Subgroups per SIMD'),
        cycles: number('Inverse Throughput'),
        codeBytes: number('Code size'),
        compileSeconds,
      };
    case 'nvidia': {
      const registers = number('Number of GPRs');
      // they are given out by the eight
      const fit = Math.floor(WARP_REGISTERS / (8 * Math.ceil(registers / 8)));
      return {
        instructions: number('Instruction count'),
        registers,
        spills: null,
        memory: number('SLM Size'),
        waves: Math.min(fit, warps[chip] as number),
        cycles: null,
        codeBytes: number('Code Size'),
        compileSeconds,
      };
    }
    case 'intel':
      return {
        instructions: number('Instruction Count'),
        registers: number('Max live registers'),
        spills: number('Spill Count') + number('Fill Count'),
        memory: number('Scratch Memory Size'),
        waves: number('Max dispatch width'),
        cycles: number('Cycle Count'),
        codeBytes: null,
        compileSeconds,
      };
    case 'qualcomm':
      return {
        instructions: number('Instruction Count'),
        registers: number('Registers used'),
        spills: number('STP Count') + number('LDP Count'),
        memory: null,
        waves: number('Max Waves Per Core'),
        cycles: null,
        // it counts words
        codeBytes: 4 * number('Code size'),
        compileSeconds,
      };
    case 'apple':
      return {
        instructions: number('Instructions'),
        registers: number('GPRs'),
        spills: number('Spills') + number('Fills'),
        memory: number('Scratch'),
        waves: number('Threads'),
        cycles: number('ALU'),
        codeBytes: number('Code size'),
        compileSeconds,
      };
    case 'arm': {
      const own = fromShaderDb(String(all['shader-db']));
      return {
        instructions: number('inst', own),
        registers: null,
        spills: number('spills', own) + number('fills', own),
        memory: null,
        waves: number('threads', own),
        cycles: number('cycles', own),
        codeBytes: 16 * number('quadwords', own),
        compileSeconds,
      };
    }
  }
};
