/** Reads NVIDIA's machine code as nvdisasm prints it: instructions, loops, cycles by a model. */

/** An instruction: its address, opcode with modifiers, operands, and the wait behind it. */
export interface Instruction {
  readonly at: number;
  readonly opcode: string;
  readonly operands: string;
  /**
   * Cycles until the warp issues its next instruction, as the compiler wrote them. Waits for memory
   * come on top.
   */
  readonly stall: number;
}

/** Cycles of a piece of code for one warp, on a quarter of an SM. */
export interface Cycles {
  /** The busiest pipe: with warps enough, a warp takes as long as that. */
  readonly bound: number;
  /** The waits of a warp that has the pipes for itself, without those for memory. */
  readonly alone: number;
}

/** A loop without a loop inside. */
export interface InnerLoop extends Cycles {
  readonly instructions: number;
}

const LINE = /^\s*\/\*([0-9a-f]{4,})\*\/\s+(?:@!?U?P\w+ )?([A-Z][\w.]*)\s*(.*?);/;

/** The second half of an instruction's code; bits 41 to 44 are the wait. */
const SECOND_HALF = /^\s*\/\* 0x([0-9a-f]{16}) \*\/\s*$/;
const stallOf = (half: string): number => Number((BigInt(`0x${half}`) >> 41n) & 15n);

/** Instructions, and the addresses of labels. */
export interface Code {
  readonly instructions: readonly Instruction[];
  readonly labels: ReadonlyMap<string, number>;
}

/** Reads what `nvdisasm -c -hex` prints of one kernel. */
export const readCode = (text: string): Code => {
  const found: Instruction[] = [];
  const labels = new Map<string, number>();
  let waiting: string[] = [];
  for (const line of text.split('\n')) {
    const [, label] = /^(\.L\w+):/.exec(line) ?? [];
    if (label !== undefined) waiting.push(label);
    const [, address, opcode = '', operands = ''] = LINE.exec(line) ?? [];
    const [, half] = SECOND_HALF.exec(line) ?? [];
    if (address !== undefined) {
      const at = Number.parseInt(address, 16);
      for (const name of waiting) labels.set(name, at);
      waiting = [];
      found.push({ at, opcode, operands, stall: 1 });
    } else if (half !== undefined && found.length > 0) {
      const last = found.pop() as Instruction;
      found.push({ ...last, stall: Math.max(1, stallOf(half)) });
    }
  }
  // padding, and the endless loop in front of it
  while (found.at(-1)?.opcode === 'NOP') found.pop();
  if (found.at(-1)?.opcode === 'BRA') found.pop();
  return { instructions: found, labels };
};

/** Returns the name of an instruction by which its pipe is known. */
const kindOf = ({ opcode }: Instruction): string => {
  const [head = ''] = opcode.split('.');
  if (/^IMAD\.(WIDE|HI)\b/.test(opcode)) return 'IMAD.WIDE';
  return head;
};

type Pipe = 'fma' | 'float' | 'alu' | 'special' | 'memory';

const kinds: Readonly<Record<Pipe, RegExp>> = {
  fma: /^(IMAD|IDP|HFMA2|HADD2|HMUL2)/,
  float: /^(FFMA|FADD|FMUL)$/,
  alu: /^(IADD3?|VIADD|LOP3|SHF|LEA|ISETP|SEL|PRMT|MOV|V?IMNMX|VIADDMNMX|FMNMX|FSETP|FSEL|I2FP|P2R|R2P|PLOP3|IABS|BMSK|SGXT|CS2R|VABSDIFF)$/,
  special: /^(MUFU|I2F|F2I|FRND|POPC|FLO|F2F|F2FP)$/,
  memory: /^(LDG|STG|LDL|STL|LDS|STS|ATO|RED|ATG)/,
};

/** Cycles that an instruction of a pipe occupies it; 16 lanes are two for a warp of 32. */
const cost: Readonly<Record<Pipe, number>> = { fma: 2, float: 2, alu: 2, special: 8, memory: 4 };
const WIDE_COST = 4;

/**
 * Returns the cycles of instructions by a model of the pipes of a quarter SM. Rates are those that
 * microbenchmarks of others have on H100 (IMAD and IDP.4A 2.01, IMAD.WIDE 4.01, integers and logic
 * 2.01, FFMA 1.01, MUFU 8.00) and A100, AD102 and GB202, which differ in two: FFMA has one pipe on
 * A100 and Turing (2), and integers have two on GB202. The anchor is a measured rate: native BN254
 * products on an RTX 3090 Ti take 528 cycles by this model, and 39.5 G a second.
 */
export const cyclesOf = (instructions: readonly Instruction[], sm: number): Cycles => {
  const busy: Record<Pipe, number> = { fma: 0, float: 0, alu: 0, special: 0, memory: 0 };
  for (const instruction of instructions) {
    const kind = kindOf(instruction);
    for (const pipe of Object.keys(kinds) as Pipe[]) {
      if (kinds[pipe].test(kind)) busy[pipe] += kind === 'IMAD.WIDE' ? WIDE_COST : cost[pipe];
    }
  }
  const multiplications = busy.fma + busy.float;
  // where there are two pipes for floats, integers are multiplied in one of them
  const fma = sm <= 80 ? multiplications : Math.max(busy.fma, Math.ceil(multiplications / 2));
  const alu = sm >= 120 ? Math.ceil(busy.alu / 2) : busy.alu;
  return {
    bound: Math.max(fma, alu, busy.special, busy.memory, instructions.length),
    alone: instructions.reduce((sum, { stall }) => sum + stall, 0),
  };
};

/** Returns the loops that have no loop inside, in order of their addresses. */
export const innerLoops = ({ instructions, labels }: Code, sm: number): InnerLoop[] => {
  const loops = instructions.flatMap(({ at, opcode, operands }) => {
    const [, label = ''] = (opcode.startsWith('BRA') && /`\((\.L\w+)\)/.exec(operands)) || [];
    const from = labels.get(label);
    return from !== undefined && from < at ? [{ from, to: at }] : [];
  });
  const contains = (outer: { from: number; to: number }, inner: { from: number; to: number }): boolean =>
    outer !== inner && outer.from <= inner.from && inner.to <= outer.to;
  return loops
    .filter((loop) => !loops.some((other) => contains(loop, other)))
    .sort((a, b) => a.from - b.from)
    .map(({ from, to }) => {
      const own = instructions.filter(({ at }) => from <= at && at <= to);
      return { ...cyclesOf(own, sm), instructions: own.length };
    });
};

/** Limits of an SM: warps, workgroups, bytes of workgroup memory, and what each takes besides. */
interface SmLimits {
  readonly warps: number;
  readonly groups: number;
  readonly sharedBytes: number;
  readonly extraBytes: number;
}

/** By compute capability (CUDA C++ Programming Guide, "Compute Capabilities"). */
const limits: Readonly<Record<number, SmLimits>> = {
  75: { warps: 32, groups: 16, sharedBytes: 65_536, extraBytes: 0 },
  86: { warps: 48, groups: 16, sharedBytes: 102_400, extraBytes: 1024 },
  89: { warps: 48, groups: 24, sharedBytes: 102_400, extraBytes: 1024 },
  90: { warps: 64, groups: 32, sharedBytes: 233_472, extraBytes: 1024 },
  120: { warps: 48, groups: 24, sharedBytes: 102_400, extraBytes: 1024 },
};

const REGISTERS = 65_536;
const LANES = 32;

const roundUp = (value: number, unit: number): number => unit * Math.ceil(value / unit);

/**
 * Returns how many warps of a kernel an SM has at a time.
 *
 * @param registers of a thread
 * @param shared bytes of workgroup memory
 * @param threads of a workgroup
 */
export const warpsOf = (sm: number, registers: number, shared: number, threads: number): number => {
  const { warps, groups, sharedBytes, extraBytes } = limits[sm] as SmLimits;
  const perGroup = Math.ceil(threads / LANES);
  const byRegisters = Math.floor(REGISTERS / (roundUp(Math.max(registers, 1), 8) * LANES) / perGroup);
  const byShared = shared === 0 ? groups : Math.floor(sharedBytes / (roundUp(shared, 128) + extraBytes));
  return perGroup * Math.min(groups, byRegisters, byShared, Math.floor(warps / perGroup));
};

/** Statistics of a kernel, by the names that ptxas or this module have for them. */
export interface NvidiaStatistics extends Readonly<Record<string, string | number>> {
  readonly device: string;
  readonly driver: string;
  readonly registers: number;
  readonly 'spill bytes': number;
  readonly 'stack bytes': number;
  readonly instructions: number;
  readonly warps: number;
  readonly bound: number;
  readonly alone: number;
  /** JSON of the inner loops. */
  readonly loops: string;
  readonly compile_cpu_s: number;
}

const numberIn = (log: string, pattern: RegExp): number =>
  [...log.matchAll(pattern)].reduce((sum, [, digits]) => sum + Number(digits), 0);

/**
 * Returns the statistics of a kernel.
 *
 * @param log output of `ptxas -v`
 * @param disassembly output of `nvdisasm -c -hex`
 * @param threads of a workgroup
 * @param seconds CPU seconds of NVRTC
 */
export const nvidiaStatistics = (
  sm: number,
  log: string,
  disassembly: string,
  threads: number,
  seconds: number,
): NvidiaStatistics => {
  const code = readCode(disassembly);
  const registers = numberIn(log, /Used (\d+) registers/g);
  if (registers === 0) throw new Error(`ptxas reports no registers:\n${log}`);
  const shared = numberIn(log, /(\d+) bytes smem/g);
  return {
    device: `NVIDIA sm_${sm}`,
    driver: 'ptxas 13.5',
    registers,
    'spill bytes': numberIn(log, /(\d+) bytes spill stores/g) + numberIn(log, /(\d+) bytes spill loads/g),
    'stack bytes': numberIn(log, /(\d+) bytes stack frame/g),
    instructions: code.instructions.length,
    warps: warpsOf(sm, registers, shared, threads),
    ...cyclesOf(code.instructions, sm),
    loops: JSON.stringify(innerLoops(code, sm)),
    compile_cpu_s: Math.round(100 * (seconds + numberIn(log, /Compile time = ([\d.]+) ms/g) / 1000)) / 100,
  };
};
