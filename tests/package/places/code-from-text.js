/**
 * Does what a strict policy forbids: shows that the policy is in force, and that what it forbids is
 * reported.
 */
export function codeFromText() {
  try {
    return new Function('return "allowed"')();
  } catch (error) {
    return error instanceof Error ? error.name : String(error);
  }
}
