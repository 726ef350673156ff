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
import { CommandError } from '../../scripts/command-line.mjs';

/** @typedef {import('./kernels.js').ChipKernel} ChipKernel */
/** @typedef {Readonly<Record<string, string | number>>} Statistics values by the driver's own names */

/** Name of every entry point in Dawn's SPIR-V. */
const ENTRY_POINT = 'dawn_entry_point';

/** The chip for which Dawn makes SPIR-V. Dawn makes the same for AMD and NVIDIA. */
const DUMPED_FOR = 'navi31';

/** This folder. */
export const here = fileURLToPath(new URL('.', import.meta.url));
const folder =
  process.env.GPU_COMPILERS_DIR ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'gpu-compilers');

/** Returns the path of a tree of compilers. @param {string} tree */
export const compilersIn = (tree) => join(folder, tree);

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
 * @param {string} program
 * @param {readonly string[]} args
 * @returns {Promise<{ output: string, notes: string }>} the last 2,000 characters as notes
 * @throws NoCompilersError, OverLimitError
 */
export const runForBoth = (program, args) =>
  new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    /** @type {Buffer[]} */
    const printed = [];
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

/** Runs a program and returns its output. @param {string} program @param {readonly string[]} args */
const run = async (program, args) => (await runForBoth(program, args)).output;

const script = join(here, 'compilers', 'gpu-stats.sh');

/** Hashes some texts to a file name. @param {readonly (string | Uint8Array)[]} parts */
export const hashOf = (parts) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('hex').slice(0, 32);
};

/**
 * Returns the folder of cached results. It lies in the tree whose programs made them, so that both
 * are deleted together.
 *
 * @param {'amd64' | 'arm64' | 'apple'} tree
 */
const cacheOf = (tree) => {
  const path = join(folder, tree, 'cache');
  mkdirSync(path, { recursive: true });
  return path;
};

/**
 * Writes a file at once: another process reads either nothing or all of it.
 *
 * @param {string} path
 * @param {string | Uint8Array} content
 */
export const writeWhole = (path, content) => {
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, content);
  renameSync(temporary, path);
};

/** @param {string} tree */
const isInstalled = (tree) => existsSync(join(folder, tree, '.complete'));
const hasMesa = () => ['amd64', 'arm64', 'apple'].every(isInstalled);

/** Checks that any compilers are installed. @throws NoCompilersError */
export function assertSomeCompilers() {
  if (!hasMesa() && !isInstalled('nvidia')) throw new NoCompilersError();
}

/**
 * Checks that the compilers of some chips are installed.
 *
 * @param {readonly Pick<import('./chips.js').Chip, 'sm'>[]} chips
 * @throws NoCompilersError
 */
export function assertCompilers(chips) {
  if (chips.some(({ sm }) => sm === undefined) && !hasMesa()) throw new NoCompilersError();
  if (chips.some(({ sm }) => sm !== undefined) && !isInstalled('nvidia')) throw new NoCompilersError(installsNvidia);
}

/** Returns the cache path of a kernel's SPIR-V. @param {ChipKernel} kernel @param {readonly string[]} flags Dawn's flags */
const spirvPath = ({ name, source, bindings }, flags) => {
  const { version } = createRequire(import.meta.url)('webgpu/package.json');
  return join(cacheOf('amd64'), `${hashOf([version, ...flags, name, source, ...bindings])}.spv`);
};

/**
 * Prepares a disassembly for the assembler. Names are dropped, so that a renamed variable gives the
 * same kernel. A keyword of SPV_KHR_maximal_reconvergence becomes its number, as Debian 12's
 * assembler does not know it.
 *
 * @param {string} text
 */
const forAssembler = (text) =>
  text.replaceAll(/^ *Op(Member)?Name .*\n/gm, '').replaceAll('MaximallyReconvergesKHR', '!6023');

/**
 * Has Dawn compile kernels to SPIR-V files, or finds them in the cache.
 *
 * @param {readonly ChipKernel[]} kernels
 * @param {boolean} vulkanMemoryModel
 * @returns {Promise<string[]>} the paths of the files
 */
export async function toSpirv(kernels, vulkanMemoryModel) {
  const flags = vulkanMemoryModel ? [] : ['disable-dawn-features=use_vulkan_memory_model'];
  const paths = kernels.map((kernel) => spirvPath(kernel, flags));
  const missing = kernels.flatMap((kernel, i) => {
    const path = /** @type {string} */ (paths[i]);
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

/** Returns the tree with a chip's driver. @param {string} chip */
const treeOf = (chip) => (chip === 'm1' ? 'apple' : /^(adreno|mali)/.test(chip) ? 'arm64' : 'amd64');

/**
 * Returns a chip's statistics of a kernel, or null if its compiler reaches the CPU limit. Both
 * outcomes are cached.
 *
 * @param {string} chip
 * @param {string} spirv
 * @returns {Promise<Statistics | null>}
 */
export async function statisticsOf(chip, spirv) {
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
