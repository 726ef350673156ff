/** A line at the foot of a terminal that says what is going on; nothing where the output is no terminal. */
export function makeStatusLine() {
  const terminal = process.stderr.isTTY;
  const clear = () => {
    if (terminal) process.stderr.write('\r\x1b[2K');
  };
  return {
    clear,
    /** @param {string} text */
    show(text) {
      if (terminal) process.stderr.write(`\r\x1b[2K${text.slice(0, (process.stderr.columns ?? 80) - 1)}`);
    },
    /** @param {string} text */
    print(text) {
      clear();
      console.log(text);
    },
  };
}
