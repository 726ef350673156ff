/** Blocks of generated text, from the modules of scripts/docs/blocks. */

/** Text of a block, without newlines at its ends. A function is called once. */
export type Block = string | Promise<string> | (() => string | Promise<string>);

/** Blocks by name: `encodings`, `size:index`, `figure:ID`. */
export type Blocks = Readonly<Record<string, Block>>;

const modules = import.meta.glob<Blocks>('./blocks/*.ts', { eager: true, import: 'blocks' });

/**
 * Returns the text of every block.
 *
 * @throws Error if two modules have a block of the same name, or a text begins or ends with a newline
 */
export const allBlocks = async (): Promise<ReadonlyMap<string, string>> => {
  const texts = new Map<string, string>();
  for (const [path, blocks] of Object.entries(modules)) {
    for (const [name, block] of Object.entries(blocks)) {
      if (texts.has(name)) throw new Error(`${path}: another module has a block ${name}`);
      const text = await (typeof block === 'function' ? block() : block);
      if (text !== text.replace(/^\n+|\n+$/g, '')) throw new Error(`${path}: ${name} begins or ends with a newline`);
      texts.set(name, text);
    }
  }
  return texts;
};
