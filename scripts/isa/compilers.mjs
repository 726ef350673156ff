/** The compilers of GPUs that are not here, which scripts/isa/setup.sh brings: from WGSL to SPIR-V, and from there to what a chip's driver says of it. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** @typedef {import('../../dev/isa/kernels.js').ChipKernel} ChipKernel */
/** @typedef {Readonly<Record<string, string | number>>} Statistics what the driver says, by its own names */

/** What Dawn calls every entry point in its SPIR-V. */
const ENTRY_POINT = 'dawn_entry_point';

/** The chip whose driver Dawn makes SPIR-V for: for those of AMD and of NVIDIA it makes the same. */
const DUMPED_FOR = 'navi31';

const here = fileURLToPath(new URL('.', import.meta.url));
const folder =
  process.env.GPU_COMPILERS_DIR ?? join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'gpu-compilers');

/** How a compiler ends that took more CPU seconds than gpu-stats.sh allows: by a signal, or as a shell puts it. */
const overLimit = ['SIGKILL', 'SIGXCPU', 128 + 9, 128 + 24];

class OverLimitError extends Error {}

/** They are not on this machine. */
export class NoCompilersError extends Error {
  constructor() {
    super(
      `the compilers of GPUs are not in ${folder} (GPU_COMPILERS_DIR names another place), or are those of an older version.\n` +
        'On Debian or Ubuntu, as root, once: scripts/isa/setup.sh (5 to 15 minutes, about 2 GB). Nothing else of this project needs them.',
    );
  }
}

/**
 * @param {string} program
 * @param {readonly string[]} args
 * @returns {Promise<string>} what it printed
 */
const run = (program, args) =>
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
      if (code === 0 || (signal === 'SIGKILL' && text !== '')) resolve(text);
      else if (code === 2) reject(new NoCompilersError());
      else if (overLimit.includes(signal ?? code ?? 0))
        reject(new OverLimitError(`${program} ${args.join(' ')}: gave up`));
      else reject(new Error(`${program} ${args.join(' ')}: ${code ?? signal}\n${complaint}`));
    });
  });

const script = join(here, 'gpu-stats.sh');

/** @param {readonly (string | Uint8Array)[]} parts */
const hashOf = (parts) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('hex').slice(0, 32);
};

/** Where results are kept: in the tree whose programs made them, so that they go with it. @param {'amd64' | 'arm64' | 'apple'} tree */
const cacheOf = (tree) => {
  const path = join(folder, tree, 'cache');
  mkdirSync(path, { recursive: true });
  return path;
};

/** @param {string} path @param {string | Uint8Array} content whole, for processes that read it meanwhile */
const writeWhole = (path, content) => {
  const temporary = `${path}.${process.pid}`;
  writeFileSync(temporary, content);
  renameSync(temporary, path);
};

/** @throws NoCompilersError */
export function assertCompilers() {
  for (const tree of ['amd64', 'arm64', 'apple'])
    if (!existsSync(join(folder, tree, '.complete'))) throw new NoCompilersError();
}

/** @param {ChipKernel} kernel @param {readonly string[]} flags Dawn's */
const spirvPath = ({ name, source, bindings }, flags) => {
  const { version } = createRequire(import.meta.url)('webgpu/package.json');
  return join(cacheOf('amd64'), `${hashOf([version, ...flags, name, source, ...bindings])}.spv`);
};

/**
 * Without names, so that new ones are no other kernel; and without a word that Debian 12's assembler does not know (SPV_KHR_maximal_reconvergence).
 *
 * @param {string} text
 */
const forAssembler = (text) =>
  text.replaceAll(/^ *Op(Member)?Name .*\n/gm, '').replaceAll('MaximallyReconvergesKHR', '!6023');

/**
 * The SPIR-V that Dawn makes of kernels, as files.
 *
 * @param {readonly ChipKernel[]} kernels
 * @param {boolean} vulkanMemoryModel
 * @returns {Promise<string[]>} their paths
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

/** @param {string} chip */
const treeOf = (chip) => (chip === 'm1' ? 'apple' : /^(adreno|mali)/.test(chip) ? 'arm64' : 'amd64');

/**
 * What a chip's driver says of a kernel; what was once asked is remembered, also that its compiler does not come to an end.
 *
 * @param {string} chip
 * @param {string} spirv
 * @returns {Promise<Statistics | null>}
 */
export async function statisticsOf(chip, spirv) {
  // what else runs is the tree's
  const program = readFileSync(join(here, 'vkstats.c'));
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
