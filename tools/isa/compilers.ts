/**
 * Runs the compilers of GPUs that this machine does not have, which compilers/setup.sh installs:
 * from WGSL to SPIR-V, and from SPIR-V to the statistics of a chip's driver.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommandError } from '../../scripts/command-line.js';
import type { Chip, Statistics } from './chips.js';
import type { ChipKernel } from './kernels.js';
import { forNaga, threadsOf, toCuda } from './nvidia-cuda.js';
import { nvidiaStatistics } from './nvidia-sass.js';

/** Name of every entry point in Dawn's SPIR-V. */
const ENTRY_POINT = 'dawn_entry_point';

/** The chip for which Dawn makes SPIR-V. Dawn makes the same for AMD and NVIDIA. */
const DUMPED_FOR = 'navi31';

const here = fileURLToPath(new URL('.', import.meta.url));
const folder =
  process.env.GPU_COMPILERS_DIR ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'gpu-compilers');

/** Signals and exit codes of a compiler that used more CPU seconds than gpu-stats.sh allows. */
const overLimit = ['SIGKILL', 'SIGXCPU', 128 + 9, 128 + 24];

class OverLimitError extends Error {}

const installsAll = 'tools/isa/compilers/setup.sh once as root on Debian or Ubuntu (5 to 15 minutes, about 2 GB)';
const installsNvidia =
  "tools/isa/compilers/nvidia-setup.sh once (2 minutes, 330 MB); it installs NVIDIA's own alone, for sm_75 to sm_120";

/** The compilers are not installed on this machine. */
class NoCompilersError extends CommandError {
  constructor(how = installsAll) {
    super(
      2,
      `the compilers of GPUs are missing or out of date in ${folder} (GPU_COMPILERS_DIR sets another folder).\n` +
        `To install them, run ${how}. Only tools/isa needs them.`,
    );
  }
}

/**
 * Runs a program and returns what it prints.
 *
 * @returns the last 2,000 characters as notes
 * @throws NoCompilersError, OverLimitError
 */
const runForBoth = (program: string, args: readonly string[]): Promise<{ output: string; notes: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const printed: Buffer[] = [];
    let complaint = '';
    child.stdout.on('data', (data) => printed.push(data));
    child.stderr.on('data', (data) => {
      complaint = (complaint + data).slice(-2000);
    });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      const text = Buffer.concat(printed).toString();
      if (code === 0 || (signal === 'SIGKILL' && text !== '')) resolve({ output: text, notes: complaint });
      else if (code === 2) reject(new NoCompilersError());
      else if (overLimit.includes(signal ?? code ?? 0))
        reject(new OverLimitError(`${program} ${args.join(' ')}: reached its CPU limit`));
      else reject(new Error(`${program} ${args.join(' ')}: ${code ?? signal}\n${complaint}`));
    });
  });

const run = async (program: string, args: readonly string[]) => (await runForBoth(program, args)).output;

const script = join(here, 'compilers', 'gpu-stats.sh');

/** Hashes some texts to a file name. */
const hashOf = (parts: readonly (string | Uint8Array)[]) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('hex').slice(0, 32);
};

/**
 * Returns the folder of cached results. It lies in the tree whose programs made them, so that both
 * are deleted together.
 */
const cacheOf = (tree: 'amd64' | 'arm64' | 'apple') => {
  const path = join(folder, tree, 'cache');
  mkdirSync(path, { recursive: true });
  return path;
};

/** Writes a file at once: another process reads either nothing or all of it. */
const writeWhole = (path: string, content: string | Uint8Array) => {
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, content);
  renameSync(temporary, path);
};

const isInstalled = (tree: string) => existsSync(join(folder, tree, '.complete'));
const hasMesa = () => ['amd64', 'arm64', 'apple'].every(isInstalled);

/** Checks that any compilers are installed. @throws NoCompilersError */
export function assertSomeCompilers() {
  if (!hasMesa() && !isInstalled('nvidia')) throw new NoCompilersError();
}

/** Checks that the compilers of some chips are installed. @throws NoCompilersError */
export function assertCompilers(chips: readonly Pick<Chip, 'sm'>[]) {
  if (chips.some(({ sm }) => sm === undefined) && !hasMesa()) throw new NoCompilersError();
  if (chips.some(({ sm }) => sm !== undefined) && !isInstalled('nvidia')) throw new NoCompilersError(installsNvidia);
}

/** Returns the cache path of a kernel's SPIR-V. @param flags Dawn's flags */
const spirvPath = ({ name, source, bindings }: ChipKernel, flags: readonly string[]) => {
  const { version } = createRequire(import.meta.url)('webgpu/package.json');
  return join(cacheOf('amd64'), `${hashOf([version, ...flags, name, source, ...bindings])}.spv`);
};

/**
 * Prepares a disassembly for the assembler. Names are dropped, so that a renamed variable gives the
 * same kernel. A keyword of SPV_KHR_maximal_reconvergence becomes its number, as Debian 12's
 * assembler does not know it.
 */
const forAssembler = (text: string) =>
  text.replaceAll(/^ *Op(Member)?Name .*\n/gm, '').replaceAll('MaximallyReconvergesKHR', '!6023');

/**
 * Has Dawn compile kernels to SPIR-V files, or finds them in the cache.
 *
 * @returns the paths of the files
 */
export async function toSpirv(kernels: readonly ChipKernel[], vulkanMemoryModel: boolean): Promise<string[]> {
  const flags = vulkanMemoryModel ? [] : ['disable-dawn-features=use_vulkan_memory_model'];
  const paths = kernels.map((kernel) => spirvPath(kernel, flags));
  const missing = kernels.flatMap((kernel, i) => {
    const path = paths[i] as string;
    return existsSync(path) ? [] : [{ kernel, path }];
  });
  if (missing.length === 0) return paths;
  const temporary = mkdtempSync(join(tmpdir(), 'webgpu-msm-isa-'));
  try {
    const list = join(temporary, 'kernels.json');
    writeFileSync(list, JSON.stringify(missing.map(({ kernel }) => kernel)));
    const printed = await run(script, [
      ...[DUMPED_FOR, '--', process.execPath, join(here, 'dump.mjs'), list],
      ...flags,
    ]);
    const dumps = printed.split(/^@@@ \d+$/m).slice(1);
    for (const [i, { kernel, path }] of missing.entries()) {
      const text = /\/\* Dumped SPIRV disassembly \*\/\n([\s\S]*OpFunctionEnd)/.exec(dumps[i] ?? '')?.[1];
      if (text === undefined) throw new Error(`Dawn printed no SPIR-V of ${kernel.title}`);
      const assembly = join(temporary, 'kernel.spvasm');
      const made = join(temporary, 'kernel.spv');
      writeFileSync(assembly, forAssembler(text));
      await run('spirv-as', ['--target-env', 'vulkan1.3', assembly, '-o', made]);
      writeWhole(path, readFileSync(made));
    }
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  return paths;
}

const treeOf = (chip: string) => (chip === 'm1' ? 'apple' : /^(adreno|mali)/.test(chip) ? 'arm64' : 'amd64');

/**
 * Returns a chip's statistics of a kernel, or null if its compiler reaches the CPU limit. Both
 * outcomes are cached.
 */
export async function statisticsOf(chip: string, spirv: string): Promise<Statistics | null> {
  // all other programs are part of the tree, and its cache is deleted with it
  const program = readFileSync(join(here, 'compilers', 'vkstats.c'));
  const key = hashOf([chip, readFileSync(spirv), program]);
  const path = join(cacheOf(treeOf(chip)), `${key}.json`);
  if (!existsSync(path)) {
    const told = run(script, [chip, spirv, ENTRY_POINT]).catch((error) => {
      if (error instanceof OverLimitError) return 'null';
      throw error;
    });
    writeWhole(path, await told);
  }
  return JSON.parse(readFileSync(path, 'utf8'));
}

/*
 * NVIDIA's own compilers, which compilers/nvidia-setup.sh installs: WGSL → Metal (naga) → CUDA C++ → PTX
 * (NVRTC) → machine code (ptxas) → text (nvdisasm).
 */

const nvidiaFolder = join(folder, 'nvidia');
const shim = join(here, 'compilers', 'metal-shim.h');

/**
 * The architecture that PTX is made for, one for all chips: from compute_100 on NVRTC has another
 * front end, which unrolls the inversion of the walk to 24,617 instructions.
 */
const PTX_ARCHITECTURE = '75';

/** Bounds checks as Dawn's: buffers are checked, and private arrays are clamped. */
const CHECKS = ['--index-bounds-check-policy', 'Restrict', '--buffer-bounds-check-policy', 'ReadZeroSkipWrite'];

const naga = (name: string) => join(nvidiaFolder, 'bin', name);
const cuda = (name: string) => join(nvidiaFolder, 'cuda', 'bin', name);

/** Returns a kernel in CUDA C++. @param temporary a folder */
async function translated({ name, source }: ChipKernel, temporary: string) {
  const [wgsl, metal] = [join(temporary, 'kernel.wgsl'), join(temporary, 'kernel.metal')];
  writeFileSync(wgsl, forNaga(source));
  await runForBoth(naga('naga'), ['--metal-version', '2.4', ...CHECKS, wgsl, metal]);
  return toCuda(readFileSync(metal, 'utf8'), name, threadsOf(source));
}

/**
 * Returns the statistics of a kernel on a chip, or finds them in the cache.
 *
 * @param sm compute capability of the chip
 */
export async function nvidiaStatisticsOf(sm: number, kernel: ChipKernel): Promise<Statistics> {
  const cache = join(nvidiaFolder, 'cache');
  mkdirSync(cache, { recursive: true });
  const temporary = mkdtempSync(join(tmpdir(), 'webgpu-msm-nvidia-'));
  try {
    const text = await translated(kernel, temporary);
    const model = readFileSync(join(here, 'nvidia-sass.ts'));
    const path = join(cache, `${hashOf([`${sm}`, text, readFileSync(shim), model])}.json`);
    if (!existsSync(path)) {
      const [source, ptx, code] = ['kernel.cu', 'kernel.ptx', 'kernel.cubin'].map((name) => join(temporary, name)) as [
        string,
        string,
        string,
      ];
      writeFileSync(source, text);
      const made = await runForBoth(naga('nvrtc'), [PTX_ARCHITECTURE, source, shim]);
      writeFileSync(ptx, made.output);
      const assembled = await runForBoth(cuda('ptxas'), ['-v', '-O3', `-arch=sm_${sm}`, ptx, '-o', code]);
      const listed = await runForBoth(cuda('nvdisasm'), ['-c', '-hex', code]);
      const threads = threadsOf(kernel.source);
      const log = assembled.output + assembled.notes;
      const found = nvidiaStatistics(sm, log, listed.output, threads, Number(made.notes));
      writeWhole(path, JSON.stringify(found));
    }
    return JSON.parse(readFileSync(path, 'utf8'));
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}
