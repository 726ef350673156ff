/**
 * Chips whose compilers compilers/setup.sh installs, with their WebGPU names, on which the
 * library's defaults may depend.
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
