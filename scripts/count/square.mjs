/** A squaring in products, as DESIGN §4 and the targets count it. */
export const SQUARE = 0.8;
