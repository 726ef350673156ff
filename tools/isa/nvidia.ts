/**
 * Runs NVIDIA's own compilers, which compilers/nvidia-setup.sh installs: WGSL → Metal (naga) → CUDA
 * C++ → PTX (NVRTC) → machine code (ptxas) → text (nvdisasm).
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Statistics } from './chips.js';
import { compilersIn, hashOf, here, runForBoth, writeWhole } from './compilers.js';
import type { ChipKernel } from './kernels.js';
import { forNaga, threadsOf, toCuda } from './nvidia-cuda.js';
import { nvidiaStatistics } from './nvidia-sass.js';

const folder = compilersIn('nvidia');
const shim = join(here, 'compilers', 'metal-shim.h');

/**
 * The architecture that PTX is made for, one for all chips: from compute_100 on NVRTC has another
 * front end, which unrolls the inversion of the walk to 24,617 instructions.
 */
const PTX_ARCHITECTURE = '75';

/** Bounds checks as Dawn's: buffers are checked, and private arrays are clamped. */
const CHECKS = ['--index-bounds-check-policy', 'Restrict', '--buffer-bounds-check-policy', 'ReadZeroSkipWrite'];

const naga = (name: string) => join(folder, 'bin', name);
const cuda = (name: string) => join(folder, 'cuda', 'bin', name);

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
  const cache = join(folder, 'cache');
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
