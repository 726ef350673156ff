import { h } from './dom.js';

export interface Tile {
  readonly label: string;
  readonly value: string | Node;
  /** What the value rests on. */
  readonly note?: string;
}

/** A result in a few large figures. */
export const tiles = (all: readonly (Tile | null)[]): HTMLElement =>
  h(
    'dl',
    { class: 'tiles' },
    ...all.map((tile) => {
      if (tile === null) return null;
      const { label, value, note } = tile;
      // a sentence takes a line
      const attributes = { class: (note?.length ?? 0) > 100 ? 'wide' : false };
      return h(
        'div',
        attributes,
        h('dt', {}, label),
        h('dd', {}, value),
        note ? h('dd', { class: 'note' }, note) : null,
      );
    }),
  );
