/** Blocks of generated text, from the modules of scripts/docs/blocks. */

/** Text of a block, without newlines at its ends. A function is called once. */
export type Block = string | Promise<string> | (() => string | Promise<string>);

/** Blocks by name: `encodings`, `size:index`, `figure:ID`. */
export type Blocks = Readonly<Record<string, Block>>;

const modules = import.meta.glob<Blocks>('./blocks/*.ts', { import: 'blocks' });

/** The texts of all blocks by name, and what is wrong with modules and blocks. */
export interface AllBlocks {
  readonly texts: ReadonlyMap<string, string>;
  readonly problems: readonly string[];
}

/** Computes every block. An error of a module or block is a problem, and leaves the others. */
export const allBlocks = async (): Promise<AllBlocks> => {
  const texts = new Map<string, string>();
  const problems: string[] = [];
  const attempt = async (where: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      problems.push(`${where}: ${error instanceof Error ? error.message : error}`);
    }
  };
  for (const [path, load] of Object.entries(modules)) {
    await attempt(path, async () => {
      for (const [name, block] of Object.entries(await load())) {
        await attempt(`${path}: ${name}`, async () => {
          if (texts.has(name)) throw new Error('another module has a block of this name');
          const text = await (typeof block === 'function' ? block() : block);
          if (/^\n|\n$/.test(text)) throw new Error('the text begins or ends with a newline');
          texts.set(name, text);
        });
      }
    });
  }
  return { texts, problems };
};
