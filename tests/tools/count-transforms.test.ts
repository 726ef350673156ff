/** Work of transforms, counted by instrumented kernels: it meets its targets. */
import { expect, test } from 'vitest';
import { countTransforms, transformTable } from '../../dev/count/count.js';
import { getDevice } from '../support/gpu.js';

test('transforms have the products and the passes of their targets', { tags: 'long' }, async () => {
  const device = await getDevice({ label: 'counting transforms' });
  const counts = await countTransforms(device, 'bn254', [32, 2 ** 9, 2 ** 10, 2 ** 12]);
  expect(counts).toHaveLength(16);
  for (const { n, name, products, mostProducts, passes, mostPasses, words } of counts) {
    expect(products, `${name}, ${n}`).toBeLessThanOrEqual(mostProducts);
    expect(passes, `${name}, ${n}`).toBeLessThanOrEqual(mostPasses);
    // each pass reads and writes all elements, of 8 words
    expect(words, `${name}, ${n}`).toBeGreaterThanOrEqual(2 * 8 * n * passes);
  }
  // a transform whose butterflies all have products but those by 1
  const [first] = counts.filter(({ n }) => n === 2 ** 12);
  expect(first?.products).toBeGreaterThan(2 ** 11 * 12 - 2 ** 12);
  expect(transformTable(counts).split('\n')).toHaveLength(17);
});
