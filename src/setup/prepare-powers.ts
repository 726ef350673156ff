/**
 * Preparation of powers of tau for the second phase: for each domain up to their size the points
 * L_i(τ)·G, by inverse transforms of points.
 */
import type { OwnBytes } from '../api/values.js';
import { invert } from '../field/modulus.js';
import type { FileOrigin } from '../formats/source.js';
import { readOptions } from '../option-table.js';
import { SectionWriter } from './key-writer.js';
import { PointTransform, rootOf } from './point-transform.js';
import { lagrangeCount, lagrangeSections, powersHeader, powersSection } from './powers.js';
import { openPowers } from './prepared-powers.js';
import { type SetupOptions, setupOptions, writeBy } from './run.js';

/**
 * Prepares powers of tau for the second phase: adds Lagrange points of each domain up to their size.
 * The bytes are those of snarkjs's `powersOfTau.preparePhase2`.
 *
 * @param source a `.ptau`
 * @returns the prepared `.ptau`; undefined if it went to a sink
 * @throws MsmError `bad-argument` naming the section; `aborted`; `unsupported-device` without
 *   WebAssembly; errors of the sink
 * @throws MsmError `out-of-memory` if `options.memoryLimit` is too low
 * @throws MsmError with `backend: 'gpu'`: `no-webgpu` without an adapter; `unsupported-device`, `device-lost`,
 *   `out-of-memory` and `internal` of the device
 * @example
 * ```ts
 * import { newPowers, preparePhase2 } from 'webgpu-msm/setup';
 *
 * const powers = await newPowers({ curve: 'bn254', power: 3 });
 * const prepared = await preparePhase2(powers);
 * console.log(prepared.length > powers.length); // true
 * ```
 */
export function preparePhase2(
  source: FileOrigin,
  options?: SetupOptions & { readonly sink?: undefined },
): Promise<OwnBytes>;
export function preparePhase2(source: FileOrigin, options: SetupOptions): Promise<OwnBytes | undefined>;
export async function preparePhase2(source: FileOrigin, given: SetupOptions = {}): Promise<OwnBytes | undefined> {
  const options = readOptions(setupOptions, given);
  const opened = await openPowers(source, options);
  const { groups, ptau } = opened;
  const total = lagrangeSections.reduce((sum, { more }) => sum + lagrangeCount(ptau.power + more), 0);
  // the points of the largest transform before it and within it, in G1 or in G2
  const most = Math.max(
    ...lagrangeSections.map(({ group, more }) => 2 ** (ptau.power + more) * groups[group].pointBytes),
  );
  const tables = { bytes: 3 * most, pointBytes: groups.g2.pointBytes };
  const { bytes } = await writeBy(options, { phase: 'prepare phase 2', total, tables }, async (run, output) => {
    const writer = await SectionWriter.begin(output, 'ptau', 11);
    // snarkjs writes the power of the file twice, and then refuses powers that were cut before: their
    // contributions were hashed for the ceremony (findings/snarkjs-prepared-truncated-powers.sh)
    await writer.whole(powersSection.header, powersHeader(groups, ptau.power, ptau.ceremonyPower));
    for (let id = powersSection.tauG1; id <= powersSection.contributions; id++) await writer.copy(opened, id, run);
    for (const { id, of, group, more } of lagrangeSections) {
      const curve = groups[group];
      const points = ptau.sections[of];
      await writer.section(id, lagrangeCount(ptau.power + more) * points.pointBytes);
      for (let power = 0; power <= ptau.power + more; power++) {
        const n = 2 ** power;
        const inverse = {
          root: invert(rootOf(n, groups.order), groups.order),
          factor: invert(BigInt(n), groups.order),
        };
        const transform = new PointTransform(curve, groups.scale, { power, ...inverse }, run);
        // the largest domain has one more element than there are powers
        const powers = (await points.points(0, Math.min(n, points.count))).slice();
        const words = await transform.of(new Uint32Array(powers.buffer), `ptau: section ${points.name}`);
        await writer.write(new Uint8Array(words.buffer));
        run.progress(2 ** power);
      }
    }
  });
  return bytes;
}
