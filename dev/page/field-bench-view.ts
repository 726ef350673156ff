import { bestRow, fastestProduct, productWords } from '../bench/field-rates.js';
import { formatMillions, formatOfPeak, formatPeak, formatPercent } from '../bench/format.js';
import type { FieldRow, PeakRow, SkippedRow, StampedRow } from '../bench/rows.js';
import { settingsChart } from './charts/index.js';
import { h, table } from './dom.js';
import type { ResultView } from './result-view.js';

/** Rates of the operations of the field, and how they stand to each other and to the peak. */
export class FieldBenchView implements ResultView {
  readonly root = h('div', { class: 'sizes' });
  readonly #peaks: PeakRow[] = [];
  readonly #rows: FieldRow[] = [];
  readonly #skipped: SkippedRow[] = [];

  onRow(row: StampedRow): void {
    if (row.event === 'peak') this.#peaks.push(row);
    else if (row.event === 'field') this.#rows.push(row);
    else if (row.event === 'skipped') this.#skipped.push(row);
    else if (row.event === 'end' && row.status === 'done') this.#show();
  }

  /** The fastest product, if the repetitions say so. */
  #headline(unit: number): HTMLElement {
    const fastest = fastestProduct(this.#rows);
    if (fastest === null) return h('p');
    const { best } = fastest;
    const roof =
      best.ofPeak === null
        ? ''
        : best.ofPeak <= 1
          ? `, ${formatPercent(best.ofPeak)} of the roofline, which is what the device’s multiply-adds allow`
          : '. How far that is from the roofline cannot be said here: the loop that should be the peak of multiply-adds is slower than the product itself';
    return h(
      'p',
      { class: 'headline' },
      h('strong', {}, `${formatMillions(best.perSecond)} million products a second`),
      ` by “${best.variant}”, ${productWords(fastest, this.#rows)}: ${(best.perSecond / unit).toFixed(2)} times the plain product${roof}`,
    );
  }

  /** All products side by side. */
  #products(): HTMLElement {
    const variants = [
      ...new Set(this.#rows.filter(({ operation }) => operation === 'product').map(({ variant }) => variant)),
    ];
    const settings = variants.flatMap((variant) => {
      const best = bestRow(this.#rows, variant, 'product');
      if (best === undefined) return [];
      const ms = 1e9 / best.perSecond;
      return [{ label: variant, medianMs: ms, lowMs: ms, highMs: ms }];
    });
    return settingsChart({
      caption: 'A million products',
      summary: 'Time of a million products by variant.',
      data: { settings },
    }).root;
  }

  #show(): void {
    const plain = this.#rows[0];
    if (plain === undefined) return;
    const unit = bestRow(this.#rows, plain.variant, plain.operation)?.perSecond ?? 1;
    const operations = new Map(this.#rows.map((row) => [`${row.operation}, ${row.variant}`, row]));
    const rows = [...operations].flatMap(([name, { operation, variant }]) => {
      const best = bestRow(this.#rows, variant, operation);
      if (best === undefined) return [];
      const isProduct = operation === 'product';
      const product = bestRow(this.#rows, variant, 'product')?.perSecond;
      const times = isProduct ? (best.perSecond / unit).toFixed(2) : '–';
      const products = isProduct || product === undefined ? '–' : (product / best.perSecond).toFixed(2);
      const { perSecond, ofPeak, compileMs } = best;
      return [[name, formatMillions(perSecond), times, products, formatOfPeak(ofPeak), compileMs.toFixed(0)]];
    });
    const peaks = this.#peaks.map(({ operation, perSecond }) => [operation, formatPeak(operation, perSecond)]);
    this.root.replaceChildren(
      h(
        'article',
        { class: 'size' },
        h('h3', {}, 'The base field of BN254'),
        this.#headline(unit),
        h(
          'p',
          { class: 'about' },
          'Every kernel was compared with BigInts before it was timed. A plain product is one of 13-bit limbs, column by column; chains are products that a thread has in flight at once. “× plain” is the rate beside the plain product of 13-bit limbs, “products” what one costs in products of its own kind, “of the peak” how much of the device’s multiply-adds it uses.',
        ),
        table(
          'Operations, the best number of chains a thread',
          ['Operation', 'M/s', '× plain', 'Products', 'Of the peak', 'Compile, ms'],
          rows,
        ),
        this.#products(),
        table('What loops of nothing else reach on this device', ['Peak', 'Rate'], peaks),
        ...this.#skipped.map(({ variant, why }) => h('p', { class: 'note' }, `${variant}: ${why}`)),
      ),
    );
  }
}
