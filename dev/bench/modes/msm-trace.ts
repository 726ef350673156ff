/** `msm-trace`: shows the median run of each case on a timeline, with its passes. */
import { ofMsm } from '../common-knobs.js';
import { blocksOf } from '../export.js';
import { formatMs, formatPercent, shortSize } from '../format.js';
import { isOnGpu, sumOnGpu } from '../measure.js';
import { headline, notes, type Part, tiles, verdict } from '../parts.js';
import { type RowOf, rowsOf } from '../rows.js';
import { medianRepetition, summarise, type Timed } from '../summary.js';
import { runTimings } from '../timings.js';
import { benchMode } from './mode.js';
import { fromTo, pointsOf, remarks, whereItGoes } from './timings-result.js';

export const msmTrace = benchMode({
  title: 'Trace',
  about: 'shows the passes of one MSM on a timeline: where does the time go?',
  takes: '5 to 15 s',
  example: 'run --logn 14 --trace dev/results/trace.json',
  limits: 'Passes have times where the device has timestamps. Peers and the hardware limit are left out.',
  runsOn: 'gpu',
  ...ofMsm,
  defaults: {},
  knobs: {},
  problemOf: (query) =>
    query.get('backend') === 'cpu'
      ? 'backend: "cpu" has no passes to trace; use autorun=msm-bench to time the CPU'
      : null,
  run: (bench, knobs) => runTimings(bench, knobs, { traced: true }),
  show: (rows) => {
    const told = rowsOf(rows, 'trace');
    return summarise(rows).map((timed) =>
      sectionOf(
        timed,
        told.filter((row) => row.case === timed.case),
      ),
    );
  },
});

function sectionOf(timed: Timed, rows: readonly RowOf<'trace'>[]): Part {
  const caption = pointsOf(timed);
  const middle = medianRepetition(rows);
  if (timed.wrong || middle === null) {
    return { kind: 'section', caption, parts: [tiles(['Result', verdict(false), 'no times are reported'])] };
  }
  const phases = timed.on === 'gpu' ? timed.phases : null;
  const gpuMs = sumOnGpu(phases);
  const most = phases?.filter(isOnGpu).sort((a, b) => b.ms - a.ms)[0];
  const clocks = `The timeline shows repetition ${middle.repetition}, the median by total time. Host and GPU have separate clocks; it assumes that the GPU started right after the submit.`;
  return {
    kind: 'section',
    caption,
    parts: [
      gpuMs && most
        ? headline(
            `A sum of ${pointsOf(timed)} takes ${formatMs(timed.typicalMs)} ms. The slowest pass is ${most.name}, with ${formatPercent(most.ms / gpuMs)} of the GPU time.`,
          )
        : null,
      tiles(
        ['Total time', `${formatMs(timed.typicalMs)} ms`, `median of ${timed.repetitions}: ${fromTo(timed)}`],
        gpuMs === null ? null : ['GPU time', `${formatMs(gpuMs)} ms`, 'all passes'],
        gpuMs && most ? ['Slowest pass', most.name, `${formatPercent(most.ms / gpuMs)} of the GPU time`] : null,
      ),
      timed.on === 'cpu'
        ? null
        : {
            kind: 'timeline',
            caption: 'One MSM, from the call to the result',
            summary: 'Timeline of the host and the GPU.',
            data: { blocks: blocksOf(middle) },
          },
      notes(...(timed.on === 'cpu' ? [] : [clocks]), ...remarks([timed])),
      ...whereItGoes([timed], ({ n }) => shortSize(n)),
    ],
  };
}
