/**
 * Chips whose compilers compilers/setup.sh installs, with their WebGPU names, on which the library's
 * defaults may depend; and the statistics of their drivers as common figures.
 */

export interface Chip {
  /** Name in the table. */
  readonly title: string;
  readonly maker: 'amd' | 'nvidia' | 'intel' | 'qualcomm' | 'arm' | 'apple';
  /** `GPUAdapterInfo.architecture` as Dawn reports it. */
  readonly architecture: string;
  /** Compute capability, if the compiler is NVIDIA's own and not Mesa's. */
  readonly sm?: number;
}

const nvidia = (name: string, architecture: string, sm: number): Chip => ({
  title: `NVIDIA ${name} (sm_${sm})`,
  ...{ maker: 'nvidia', architecture, sm },
});

const all = {
  navi31: { title: 'AMD RDNA3 (Navi 31)', maker: 'amd', architecture: 'rdna-3' },
  navi21: { title: 'AMD RDNA2 (Navi 21)', maker: 'amd', architecture: 'rdna-2' },
  navi10: { title: 'AMD RDNA1 (Navi 10)', maker: 'amd', architecture: 'rdna-1' },
  gfx1150: { title: 'AMD RDNA3.5 (Strix Point)', maker: 'amd', architecture: 'rdna-3' },
  vangogh: { title: 'AMD RDNA2 (Van Gogh)', maker: 'amd', architecture: 'rdna-2' },
  vega10: { title: 'AMD GCN5 (Vega 10)', maker: 'amd', architecture: 'gcn-5' },
  raven: { title: 'AMD GCN5 (Raven)', maker: 'amd', architecture: 'gcn-5' },
  polaris10: { title: 'AMD GCN4 (Polaris 10)', maker: 'amd', architecture: 'gcn-4' },
  ampere: { title: 'NVIDIA Ampere (NVK)', maker: 'nvidia', architecture: 'ampere' },
  turing: { title: 'NVIDIA Turing (NVK)', maker: 'nvidia', architecture: 'turing' },
  sm_75: nvidia('Turing', 'turing', 75),
  sm_86: nvidia('Ampere', 'ampere', 86),
  sm_89: nvidia('Ada', 'lovelace', 89),
  sm_90: nvidia('Hopper', 'hopper', 90),
  sm_120: nvidia('Blackwell', 'blackwell', 120),
  tgl: { title: 'Intel Xe-LP (Tiger Lake)', maker: 'intel', architecture: 'gen-12lp' },
  dg2: { title: 'Intel Xe-HPG (Arc A770M)', maker: 'intel', architecture: 'gen-12hp' },
  mtl: { title: 'Intel Xe-LPG (Meteor Lake)', maker: 'intel', architecture: 'xe-lpg' },
  adreno630: { title: 'Qualcomm Adreno 630', maker: 'qualcomm', architecture: 'adreno-6xx' },
  adreno660: { title: 'Qualcomm Adreno 660', maker: 'qualcomm', architecture: 'adreno-6xx' },
  adreno730: { title: 'Qualcomm Adreno 730', maker: 'qualcomm', architecture: 'adreno-7xx' },
  adreno740: { title: 'Qualcomm Adreno 740', maker: 'qualcomm', architecture: 'adreno-7xx' },
  adreno750: { title: 'Qualcomm Adreno 750', maker: 'qualcomm', architecture: 'adreno-7xx' },
  m1: { title: 'Apple M1 (G13G)', maker: 'apple', architecture: 'metal-3' },
  malig610: { title: 'ARM Mali-G610', maker: 'arm', architecture: 'valhall' },
  malig52: { title: 'ARM Mali-G52', maker: 'arm', architecture: 'bifrost' },
} as const satisfies Readonly<Record<string, Chip>>;

export type ChipName = keyof typeof all;
export const chips: Readonly<Record<ChipName, Chip>> = all;
export const chipNames = Object.keys(chips) as ChipName[];

/**
 * Returns whether the driver supports the Vulkan memory model. Mesa's driver for Mali rejects it
 * (PanVK 25.0: VkResult −13); Dawn uses it elsewhere.
 */
export const takesVulkanMemoryModel = (name: ChipName): boolean => chips[name].maker !== 'arm';

/**
 * Figures of a kernel; null if the driver does not report one. Units differ by maker;
 * docs/reference/chips.md lists them.
 */
export interface Figures {
  readonly instructions: number;
  readonly registers: number | null;
  /** Register spills to memory. */
  readonly spills: number | null;
  /** Bytes of private memory outside registers. */
  readonly memory: number | null;
  readonly waves: number | null;
  /** Cycles that the driver estimates; less is better. */
  readonly cycles: number | null;
  /** Cycles of a warp that has its part of the chip for itself; memory not counted. */
  readonly alone: number | null;
  readonly codeBytes: number | null;
  readonly compileSeconds: number;
}

/** Values by the driver's own names. */
export type Statistics = Readonly<Record<string, string | number>>;

/** Returns the names that chip and driver report. */
export const driverOf = ({ device, driver }: Statistics): string =>
  [device, driver].map((name) => String(name).trim()).join('; ');

/**
 * Registers of an SM per lane, and largest number of warps by GPU (CUDA C++ Programming Guide,
 * "Compute Capabilities" 7.5 and 8.6).
 */
const WARP_REGISTERS = 65_536 / 32;
const warps: Readonly<Record<string, number>> = { turing: 32, ampere: 48 };

/** Parses `… 1234 inst, 454.000000 cycles, …, 376:372 spills:fills`. */
const fromShaderDb = (line: string): Statistics => {
  const pairs = [...line.matchAll(/([\d.]+) ([a-z]+)/g)].map(([, value, name]) => [name, Number(value)] as const);
  const [, spills, fills] = /(\d+):(\d+) spills:fills/.exec(line) ?? [];
  return { ...Object.fromEntries(pairs), spills: Number(spills ?? 0), fills: Number(fills ?? 0) };
};

type Read = (name: string) => number;
type OwnFigures = Partial<Omit<Figures, 'compileSeconds'>> & Pick<Figures, 'instructions'>;

/** Figures that most drivers do not report. */
const unknown = {
  registers: null,
  spills: null,
  memory: null,
  waves: null,
  cycles: null,
  alone: null,
  codeBytes: null,
};

/** Figures of NVIDIA's own compiler; see nvidia-sass.ts. */
const ownNvidia = (read: Read): OwnFigures => ({
  instructions: read('instructions'),
  registers: read('registers'),
  spills: read('spill bytes'),
  memory: read('stack bytes'),
  waves: read('warps'),
  cycles: read('bound'),
  alone: read('alone'),
  codeBytes: 16 * read('instructions'),
});

const readers: Readonly<Record<Chip['maker'], (read: Read, chip: ChipName, all: Statistics) => OwnFigures>> = {
  amd: (read) => ({
    instructions: read('Instructions'),
    registers: read('VGPRs'),
    spills: read('Spilled VGPRs') + read('Spilled SGPRs'),
    memory: read('Scratch size'),
    waves: read('Subgroups per SIMD'),
    cycles: read('Inverse Throughput'),
    codeBytes: read('Code size'),
  }),
  nvidia: (read, chip) => {
    if (chips[chip].sm !== undefined) return ownNvidia(read);
    const registers = read('Number of GPRs');
    // registers are allocated in units of eight
    const fit = Math.floor(WARP_REGISTERS / (8 * Math.ceil(registers / 8)));
    return {
      instructions: read('Instruction count'),
      registers,
      memory: read('SLM Size'),
      waves: Math.min(fit, warps[chip] as number),
      codeBytes: read('Code Size'),
    };
  },
  intel: (read) => ({
    instructions: read('Instruction Count'),
    registers: read('Max live registers'),
    spills: read('Spill Count') + read('Fill Count'),
    memory: read('Scratch Memory Size'),
    waves: read('Max dispatch width'),
    cycles: read('Cycle Count'),
  }),
  qualcomm: (read) => ({
    instructions: read('Instruction Count'),
    registers: read('Registers used'),
    spills: read('STP Count') + read('LDP Count'),
    waves: read('Max Waves Per Core'),
    // the driver counts words
    codeBytes: 4 * read('Code size'),
  }),
  apple: (read) => ({
    instructions: read('Instructions'),
    registers: read('GPRs'),
    spills: read('Spills') + read('Fills'),
    memory: read('Scratch'),
    waves: read('Threads'),
    cycles: read('ALU'),
    codeBytes: read('Code size'),
  }),
  arm: (_, chip, all) => {
    const read = readerOf(chip, fromShaderDb(String(all['shader-db'])));
    return {
      instructions: read('inst'),
      spills: read('spills') + read('fills'),
      waves: read('threads'),
      cycles: read('cycles'),
      codeBytes: 16 * read('quadwords'),
    };
  },
};

/**
 * Returns a function that reads one statistic. It throws an Error if the driver does not report it.
 */
const readerOf =
  (chip: ChipName, from: Statistics): Read =>
  (name) => {
    const value = from[name];
    if (typeof value !== 'number') throw new Error(`the driver of ${chip} does not report '${name}'`);
    return value;
  };

export const figuresOf = (chip: ChipName, all: Statistics): Figures => {
  const read = readerOf(chip, all);
  return { ...unknown, ...readers[chips[chip].maker](read, chip, all), compileSeconds: read('compile_cpu_s') };
};
