/** Memoises a function by its arguments. */
export const once = <Argument extends unknown[], Result>(make: (...argument: Argument) => Result) => {
  const made = new Map<string, Result>();
  return (...argument: Argument): Result => {
    const name = JSON.stringify(argument);
    const result = made.get(name) ?? make(...argument);
    made.set(name, result);
    return result;
  };
};
