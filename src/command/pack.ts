/** `webgpu-msm pack` and `unpack`: compact keys of `.zkey` files, and back. */
import { packZkey, unpackZkey } from '../formats.js';
import { openFile } from '../node.js';
import type { Outcome } from './prove.js';
import type { Terminal } from './terminal.js';

/** Arguments: paths of files. */
export interface PackArguments {
  readonly file: string;
  /** Default: the path of `file` with another ending. */
  readonly out: string | undefined;
  readonly json: boolean | undefined;
}

/** Endings of the names of keys, and of compact ones. */
const [PLAIN, COMPACT] = ['.zkey', '.compact.zkey'];

/** Returns a path with another ending. */
const withEnding = (path: string, from: string, to: string): string =>
  `${path.endsWith(from) ? path.slice(0, -from.length) : path}${to}`;

const steps = { pack: packZkey, unpack: unpackZkey } as const;

/** Packs or unpacks a key, and tells the sizes of both files and the hash of the `.zkey`. */
export const packKey = async (
  step: keyof typeof steps,
  { file, out, json }: PackArguments,
  terminal: Terminal,
): Promise<Outcome> => {
  const path = out ?? (step === 'pack' ? withEnding(file, PLAIN, COMPACT) : withEnding(file, COMPACT, PLAIN));
  try {
    const { zkeyBytes, compactBytes, sha256 } = await steps[step](await openFile(file), {
      sink: path,
      onProgress: ({ phase, done, total }) =>
        terminal.progress({ stage: 'key', part: phase, done, total, remainingMs: null }),
      onWarning: terminal.warn,
    });
    const facts = { path, zkeyBytes, compactBytes, sha256 };
    if (json) return { output: `${JSON.stringify(facts)}\n`, exitCode: 0 };
    const share = Math.round((100 * compactBytes) / zkeyBytes);
    return {
      output: `${path}: ${step === 'pack' ? compactBytes : zkeyBytes} bytes; a compact key of ${share} % of its .zkey, whose SHA-256 is ${sha256}\n`,
      exitCode: 0,
    };
  } finally {
    terminal.clear();
  }
};
