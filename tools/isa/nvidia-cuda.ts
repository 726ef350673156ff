/**
 * Translates WGSL kernels to CUDA C++ for NVIDIA's own compiler: naga writes them as Metal, and
 * Metal's C++ differs from CUDA's in what compilers/metal-shim.h defines and this module replaces.
 */

/** Expressions for the built-in values of Metal, in groups of `threads`. */
const builtIns: Readonly<Record<string, (threads: number) => string>> = {
  thread_position_in_grid: (threads) => `metal::uint3(blockIdx.x * ${threads}u + threadIdx.x, blockIdx.y, blockIdx.z)`,
  thread_position_in_threadgroup: () => 'metal::uint3(threadIdx.x, 0u, 0u)',
  thread_index_in_threadgroup: () => 'threadIdx.x',
  threadgroup_position_in_grid: () => 'metal::uint3(blockIdx.x, blockIdx.y, blockIdx.z)',
  threadgroups_per_grid: () => 'metal::uint3(gridDim.x, gridDim.y, gridDim.z)',
};

/** Stands for dot4U8Packed until it is an instruction: naga would write its products one by one. */
const STAND_IN = 'byte_dot_product';

/** Returns WGSL that naga translates in place of a kernel. */
export const forNaga = (wgsl: string): string =>
  wgsl.includes('dot4U8Packed(')
    ? `${wgsl.replaceAll('dot4U8Packed(', `${STAND_IN}(`)}\nfn ${STAND_IN}(a: u32, b: u32) -> u32 { return a ^ b; }\n`
    : wgsl;

/** Returns the threads of a workgroup of a WGSL kernel. */
export const threadsOf = (wgsl: string): number => {
  const [, threads] = /@workgroup_size\((\d+)/.exec(wgsl) ?? [];
  if (threads === undefined) throw new Error('the kernel has no @workgroup_size');
  return Number(threads);
};

/** An entry point in naga's Metal: its name and its parameters, a line each. */
const ENTRY = /^(?:\[\[max_total_threads_per_threadgroup\(\d+\)\]\] )?kernel void (\w+)\(\n([\s\S]*?)\n\) \{\n/m;

/** A parameter of the CUDA kernel, or a statement at its beginning. */
type Part = { readonly parameter?: string; readonly statement?: string };

const partsOf = (line: string, threads: number): Part => {
  const [, space, type, constant, name] =
    /^(device|threadgroup|constant) (.*?)( const)?& (\w+)(?: \[\[.*\]\])?$/.exec(line) ?? [];
  if (space === 'threadgroup') return { statement: `__shared__ ${type} ${name};` };
  // uniforms by value, as drivers put them into the bank of constants
  if (space === 'constant') return { parameter: `const ${type} ${name}` };
  if (space === 'device') {
    const qualified = `${constant === undefined ? '' : 'const '}${type}`;
    return {
      parameter: `${qualified}* __restrict__ ${name}_ptr`,
      statement: `${qualified}& ${name} = *${name}_ptr;`,
    };
  }
  const [, ofBuiltIn, own, attribute = ''] = /^([\w:]+) (\w+) \[\[(\w+)\]\]$/.exec(line) ?? [];
  const value = builtIns[attribute];
  if (value === undefined) throw new Error(`naga wrote a parameter that has no counterpart in CUDA: ${line}`);
  return { statement: `${ofBuiltIn} ${own} = ${value(threads)};` };
};

/** Replaces what differs between Metal and CUDA outside of entry points. */
const withoutMetal = (metal: string): string =>
  metal
    .replace(/#include <[\w/.]+>\n/g, '')
    .replace('using metal::uint;\n', '')
    // naga's guards against endless loops, of which Dawn has none for Vulkan
    .replace(/^ *uint2 loop_bound\w* = .*\n/gm, '')
    .replace(/^ *if \(metal::all\(loop_bound.*\n/gm, '')
    .replace(/^ *loop_bound\w* -= .*\n/gm, '')
    // literals are floats in Metal and doubles in C++
    .replace(/(?<![\w.])(\d+\.\d*(?:e[+-]?\d+)?)(?![\w.])/g, '$1f')
    .replace(/\b(\w+)\.xy\b/g, 'metal::uint2($1.x, $1.y)')
    // a function of metal-shim.h
    .replace(new RegExp(`^uint ${STAND_IN}\\([\\s\\S]*?^}\\n`, 'm'), '')
    .replace(/^(?!typedef|struct|kernel|using|constant|template|\[)([A-Za-z_][\w:]* \w+\()/gm, 'FN $1')
    .replace(/^constant (?=[\w:]+ \w+ = )/gm, 'static constexpr ');

/**
 * Workgroup memory begins as zeros: all threads write them, as in Dawn; in naga's code one thread
 * does.
 */
const zeroedByAll = (metal: string, threads: number): string =>
  metal.replace(/^ {4}if \(\w+ == 0u\) \{\n((?: {8}\w+ = \{\};\n)+) {4}\}\n/gm, (_, zeroed: string) =>
    [...zeroed.matchAll(/(\w+) = /g)]
      .map(
        ([, name]) =>
          `    for (uint i = threadIdx.x; i < sizeof(${name}) / 4u; i += ${threads}u) ` +
          `reinterpret_cast<uint*>(&${name})[i] = 0u;\n`,
      )
      .join(''),
  );

/**
 * Returns a kernel in CUDA C++.
 *
 * @param metal what naga writes of `forNaga`
 * @param threads threads of a workgroup
 * @throws Error if the kernel is not there, or takes a parameter that is not known here
 */
export const toCuda = (metal: string, entry: string, threads: number): string => {
  const source = zeroedByAll(withoutMetal(metal), threads);
  const found = ENTRY.exec(source);
  // naga adds an underscore to names that Metal reserves
  if (found === null || found[1]?.replace(/_$/, '') !== entry) throw new Error(`naga wrote no kernel ${entry}`);
  const lines = (found[2] as string)
    .split('\n')
    .map((line) => line.replace(/^[\s,]+/, '').trim())
    .filter((line) => line !== '');
  const parts = lines.map((line) => partsOf(line, threads));
  const parameters = parts.flatMap(({ parameter }) => parameter ?? []);
  const first = parts.flatMap(({ statement }) => (statement === undefined ? [] : `    ${statement}\n`));
  const head = `extern "C" KERNEL(${threads}) void ${entry}_kernel(${parameters.join(', ')}) {\n${first.join('')}`;
  const rest = source.slice(found.index + found[0].length);
  return `#include "metal-shim.h"\n${source.slice(0, found.index)}${head}${rest}`;
};
