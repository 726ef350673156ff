/** Faults that replace a command by one of an earlier call. */
import type { Arm, Circumstances } from './arm.js';
import { strikeCommand } from './changes.js';
import { bound, buffersOf, type Command, isUniform, type Mapped, type Step, type Trace } from './commands.js';
import type { RecordingDevice } from './recording-device.js';
import { drawSite, nameOf, pick, type Site, sitesOf, type Target } from './sites.js';

/** Returns the content of a buffer after the writes of a call before a command. */
export const written = (trace: Trace, upTo: number, buffer: GPUBuffer): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(buffer.size);
  for (const command of trace.slice(0, upTo)) {
    if (command.kind === 'write' && command.buffer === buffer) bytes.set(command.data, command.offset);
  }
  return bytes;
};

/** Returns the dispatch with the uniforms that its own call had written. */
export const withOwnUniforms = (device: RecordingDevice, trace: Trace, at: number, step: Step): Step => {
  if (step.kind !== 'dispatch') return step;
  const entries = step.entries.map((entry) => {
    const { buffer, offset, size } = bound(entry);
    if (!isUniform(buffer)) return entry;
    return { ...entry, resource: { buffer: device.uniform(written(trace, at, buffer)), offset, size } };
  });
  const layout = step.pipeline.getBindGroupLayout(0);
  return { ...step, entries, group: device.real.createBindGroup({ layout, entries }) };
};

/** Returns the command of an earlier call that corresponds to one of this call. */
export const earlierCommand = (
  { device, random, before, earlier }: Circumstances,
  target: Target,
  site: Site,
): Command | Mapped | Step | undefined => {
  for (const trace of [pick(random, earlier) ?? before, before]) {
    const alike = sitesOf(trace, target).filter(({ label }) => label === site.label);
    const { at, step } = trace === before ? site : (pick(random, alike) ?? site);
    const asItWas = (each: Step): Step => withOwnUniforms(device, trace, at, each);
    const command = trace[at];
    const found = command?.kind === 'submit' && step !== null ? command.steps[step] : command;
    if (found === undefined || buffersOf(found).some((buffer) => device.isGone(buffer))) continue;
    if (found.kind === 'submit') return { ...found, steps: found.steps.map(asItWas) };
    return found.kind === 'dispatch' ? asItWas(found) : found;
  }
  return undefined;
};

export const replace =
  (target: Target): Arm =>
  (circumstances) => {
    const site = drawSite(circumstances, target);
    const command = site && earlierCommand(circumstances, target, site);
    if (site === undefined || command === undefined) return null;
    return strikeCommand(site, target, { kind: 'replace', command: command as Command | Step }, nameOf(site));
  };
