import { MsmError } from '../../src/index.js';

/** What the page says of an error: the library's errors with their code. */
export function errorMessage(error: unknown): string {
  if (error instanceof MsmError) return `${error.code}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}
