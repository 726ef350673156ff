import { MsmError } from '../../src/index.js';

/** Returns the text the page shows for an error: errors of the library with their code. */
export function errorMessage(error: unknown): string {
  if (error instanceof MsmError) return `${error.code}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}
