/**
 * npm run bench -- count --logn 16
 *
 * Counts the work of an MSM on the GPU with instrumented kernels (dev/count): products, squares,
 * inversions, and points and words moved, by stage and as multiples of 6·n·T, the products of n·T
 * affine additions. Also counts the products of loading a point. With `--op ntt` it counts the
 * products and passes of transforms, beside their targets.
 *
 * The counts repeat exactly on one kind of adapter; hardware and software adapters get different
 * plans. No time is measured.
 */
import { writeFileSync } from 'node:fs';
import {
  curveGroup,
  parseCurve,
  parseGroup,
  parsePointDistribution,
  parseScalarDistribution,
} from '../dev/cases/address.js';
import { countTable, countTransforms, makeCounter, transformTable } from '../dev/count/count.js';
import { loadTable } from '../dev/count/load-products.js';
import { adapterOption, command, integer, listOf, oneOf, outputFile, refusalsAsUsage, valued } from './command-line.js';
import { onDevice } from './device.js';

export const countCommand = command({
  about: 'counts products, inversions and words of an MSM by stage; no times',
  usage: 'usage: npm run bench -- count [options]',
  options: {
    op: valued('msm', 'msm (the default), or ntt to count transforms', oneOf('msm', 'ntt'), 'msm'),
    logn: valued('10,12', 'sizes as powers of two', listOf(integer(0, 20)), [10, 12]),
    curve: valued('bls12-381', 'the curve (default bn254)', parseCurve, 'bn254'),
    group: valued('g2', 'its group (default g1)', parseGroup, 'g1'),
    points: valued('distinct', 'distribution of the points', parsePointDistribution, 'distinct'),
    scalars: valued('random', 'distribution of the scalars', parseScalarDistribution, 'random'),
    c: valued('13', 'window bits (default: the engine’s choice)', integer(0, 16)),
    json: valued('FILE', 'also write the counts to a file', outputFile),
    adapter: adapterOption,
  },
  async run({ op, logn, curve, group, points, scalars, c, json, adapter }) {
    const where = refusalsAsUsage(() => curveGroup(curve, group));
    const write = (counts: unknown[]) =>
      json !== undefined && writeFileSync(json, `${JSON.stringify(counts, null, 2)}\n`);
    if (op === 'ntt') {
      await onDevice(adapter, `transforms of ${curve}-fr`, async (device) => {
        const sizes = logn.map((log) => 2 ** log);
        const counts = await countTransforms(device, where.curve, sizes);
        console.log(`\n${transformTable(counts)}`);
        write(counts);
      });
      return;
    }
    await onDevice(adapter, `${curve} ${group}, points ${points}, scalars ${scalars}`, async (device) => {
      const counter = makeCounter(device, where);
      const all = [];
      for (const log of logn) {
        const counts = await counter({
          n: 2 ** log,
          points,
          scalars,
          tuning: c === undefined ? {} : { windowBits: c },
        });
        all.push(counts);
        console.log(`\n${countTable(counts)}`);
      }
      console.log(`\n${await loadTable(where)}`);
      write(all);
    });
  },
});
