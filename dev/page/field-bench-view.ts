import { bestRow, fastestProduct, productWords } from '../bench/field-rates.js';
import { formatMillions, formatOfPeak, formatPeak } from '../bench/format.js';
import { type FieldRow, rowsOf, type StampedRow } from '../bench/rows.js';
import type { Fastest } from '../bench/summary.js';
import { settingsChart } from './charts/index.js';
import { h, note, table } from './dom.js';
import type { ResultView } from './result-view.js';
import { tiles } from './tiles.js';

const NO_PEAK = 'the loop that should be the peak of multiply-adds is slower than the product itself';

/** Rates of the operations of the field, and how they stand to each other and to the peak. */
export class FieldBenchView implements ResultView {
  readonly root = h('div', { class: 'sizes' });
  readonly #told: StampedRow[] = [];

  onRow(row: StampedRow): void {
    this.#told.push(row);
    if (row.event === 'end' && row.status === 'done') this.#show(rowsOf(this.#told, 'field'));
  }

  #show(all: readonly FieldRow[]): void {
    const [plain] = all;
    if (plain === undefined) return;
    const unit = bestRow(all, plain.variant, plain.operation)?.perSecond ?? 1;
    const operations = new Map(all.map((row) => [`${row.operation}, ${row.variant}`, row]));
    const best = [...operations].flatMap(([name, { operation, variant }]) => {
      const row = bestRow(all, variant, operation);
      return row === undefined ? [] : [{ name, ...row }];
    });
    const rows = best.map(({ name, operation, variant, perSecond, ofPeak, compileMs }) => {
      const isProduct = operation === 'product';
      const product = bestRow(all, variant, 'product')?.perSecond;
      const times = isProduct ? (perSecond / unit).toFixed(2) : '–';
      const products = isProduct || product === undefined ? '–' : (product / perSecond).toFixed(2);
      return [name, formatMillions(perSecond), times, products, formatOfPeak(ofPeak), compileMs.toFixed(0)];
    });
    const bars = best
      .filter(({ operation }) => operation === 'product')
      .map(({ variant, perSecond }) => ({ label: variant, ms: 1e9 / perSecond }));
    const peaks = rowsOf(this.#told, 'peak').map(({ operation, perSecond }) => [
      operation,
      formatPeak(operation, perSecond),
    ]);
    const fastest = fastestProduct(all);
    const chart = settingsChart({ caption: 'A million products', summary: 'Time of a million products by variant.' });
    chart.update({
      settings: bars.map(({ label, ms }) => ({ label, medianMs: ms, lowMs: ms, highMs: ms })),
      fastest: fastest?.notToldApartFrom === null ? fastest.best.variant : null,
    });
    this.root.replaceChildren(
      h('h3', {}, 'The base field of BN254'),
      summary(fastest, all, unit),
      note(
        'Every kernel was compared with BigInts before it was timed. A plain product is one of 13-bit limbs, column by column; chains are products that a thread has in flight at once. “× plain” is the rate beside the plain product of 13-bit limbs, “products” what one costs in products of its own kind, “of the peak” how much of the device’s multiply-adds it uses.',
      ),
      table(
        'Operations, the best number of chains a thread',
        ['Operation', 'M/s', '× plain', 'Products', 'Of the peak', 'Compile, ms'],
        rows,
      ),
      chart.root,
      table('What loops of nothing else reach on this device', ['Peak', 'Rate'], peaks),
      ...rowsOf(this.#told, 'skipped').map(({ variant, why }) => note(`${variant}: ${why}`)),
    );
  }
}

/** The fastest product, if the repetitions say so. */
function summary(fastest: Fastest<FieldRow> | null, all: readonly FieldRow[], unit: number): HTMLElement {
  if (fastest === null) return tiles([]);
  const { variant, perSecond, ofPeak } = fastest.best;
  return tiles([
    {
      label: 'Products a second',
      value: `${formatMillions(perSecond)} M`,
      note: `${variant}, ${productWords(fastest, all)}`,
    },
    { label: 'Beside the plain product', value: `${(perSecond / unit).toFixed(2)} ×` },
    ofPeak === null
      ? null
      : {
          label: 'Of the roofline',
          value: formatOfPeak(ofPeak),
          note: ofPeak > 1 ? NO_PEAK : 'which is what the device’s multiply-adds allow',
        },
  ]);
}
