/** `figure:ID`, a measured value as a page writes it, and `table:NAME`, tables of them. */
import type { Blocks } from '../blocks.js';
import { Figures } from '../figures/measured.js';
import { tables } from '../figures/tables.js';

const figures = new Figures();

export const blocks: Blocks = {
  ...Object.fromEntries(
    figures.all
      .filter(({ inline, supersededBy }) => inline === true && supersededBy === undefined)
      .map(({ id }) => [`figure:${id}`, () => figures.text(id)]),
  ),
  ...Object.fromEntries(Object.entries(tables).map(([name, make]) => [`table:${name}`, () => make(figures)])),
};
