/**
 * A struct of u32 fields that host and shader share. The WGSL declaration and the packer come from
 * one description, so that they always agree.
 */
export interface Struct<Field extends string> {
  readonly name: string;
  readonly fields: readonly Field[];
  /** Description of each field. */
  readonly documented: Readonly<Record<Field, string>>;
  readonly byteLength: number;
  /** The WGSL declaration. */
  readonly wgsl: string;
  pack(values: Readonly<Record<Field, number>>): Uint32Array<ArrayBuffer>;
  unpack(words: Uint32Array, index: number): Record<Field, number>;
}

/** @param documented descriptions by field name, which become comments in WGSL */
export const struct = <Field extends string>(
  name: string,
  documented: Readonly<Record<Field, string>>,
): Struct<Field> => {
  const fields = Object.keys(documented) as Field[];
  const lines = fields.map((field) => `  ${field}: u32, // ${documented[field]}`);
  return {
    name,
    fields,
    documented,
    byteLength: fields.length * 4,
    wgsl: `struct ${name} {\n${lines.join('\n')}\n}\n`,
    pack: (values) => {
      const words = new Uint32Array(fields.length);
      fields.forEach((field, i) => {
        const value = values[field];
        if (!Number.isInteger(value) || value < 0 || value > 0xffffffff) {
          throw new RangeError(`${name}.${field} must be a u32, got ${value}`);
        }
        words[i] = value;
      });
      return words;
    },
    unpack: (words, index) =>
      Object.fromEntries(fields.map((field, i) => [field, words[index * fields.length + i] as number])) as Record<
        Field,
        number
      >,
  };
};
