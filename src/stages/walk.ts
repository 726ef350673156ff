import template from '../../wgsl/walk.wgsl?raw';
import type { CurveContext } from '../curves/curve.js';
import type { CarryMode } from '../field/carry.js';
import { fieldLiteral } from '../field/literal.js';
import { fieldView } from '../field/wgsl.js';
import { type Kernel, kernel } from '../shaders/kernel.js';
import { struct } from '../shaders/struct.js';
import { findingsBinding, findingsView, writersBinding } from './check.js';
import { entryWgsl } from './entry.js';
import { Level } from './level.js';

export const WalkConfig = struct('WalkConfig', { level: 'index of the level to walk' });

/** What the source of the walk depends on besides the curve. */
export interface WalkShape {
  readonly prefixMemory: 'private' | 'workgroup';
  readonly threads: number;
  readonly slots: number;
  readonly carry: CarryMode;
  /** Counts the writers of every sum, and the entries taken in. */
  readonly checks?: boolean;
}

/** Workgroup memory of the prefix products, in bytes. */
export const prefixBytes = (curve: CurveContext, threads: number, slots: number): number =>
  threads * slots * curve.field.bytes;

/** Bytes that WGSL guarantees for all private variables of a shader together (WGSL, "Limits"). */
const PRIVATE_BYTES = 8192;

/** The most slots whose private variables fit: the sum, four words, and the prefix product unless that is shared. Four words are the thread's, and the constants of products. */
export const mostSlots = (curve: CurveContext, prefixMemory: WalkShape['prefixMemory']): number => {
  const slot = curve.pointBytes + 4 * 4 + (prefixMemory === 'private' ? curve.field.bytes : 0);
  const thread = 4 * (4 + curve.field.limbs + 3);
  return Math.floor((PRIVATE_BYTES - thread) / slot);
};

export const walkKernel = (
  curve: CurveContext,
  { prefixMemory, threads, slots, carry, checks = false }: WalkShape,
): Kernel => {
  const shared = prefixMemory === 'workgroup';
  return kernel(
    'walk',
    template,
    [
      { name: 'config', access: 'uniform', type: 'WalkConfig' },
      { name: 'levels', access: 'read', type: 'array<Level>' },
      { name: 'stream', access: 'read', type: 'array<Entry>' },
      { name: 'points', access: 'read', type: 'array<Point>' },
      { name: 'sums', access: 'write', type: 'array<Point>' },
      { name: 'places', access: 'write', type: 'array<Entry>' },
      { name: 'partials', access: 'write', type: 'array<Point>' },
      ...(checks ? [writersBinding, findingsBinding] : []),
    ],
    {
      ...fieldView(curve.field, carry, true),
      ...(checks ? findingsView() : {}),
      checks,
      structs: `${WalkConfig.wgsl}\n${Level.wgsl}`,
      entry: entryWgsl,
      placement: prefixMemory,
      prefixIsShared: shared,
      prefixLength: shared ? threads * slots : slots,
      threads,
      slots,
      aLimbs: fieldLiteral(curve.field, curve.a),
    },
  );
};
