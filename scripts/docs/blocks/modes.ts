/** `modes`: the modes of the bench, from their own descriptions. */
import { cpuModes, isWithoutGpu, modeNames, modes, notOnPage } from '../../../dev/bench/modes.js';
import type { Blocks } from '../blocks.js';
import { code, table } from '../markdown.js';

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const rows = (): string[][] =>
  modeNames.map((name) => {
    const { about, takes } = modes[name];
    const gpu = isWithoutGpu(name) ? 'opens none' : cpuModes.includes(name) ? 'needed, or `--backend cpu`' : 'needed';
    return [code(name), capital(about), takes, notOnPage(name) === null ? 'page, terminal' : 'terminal', gpu];
  });

export const blocks: Blocks = { modes: () => table(['mode', 'purpose', 'takes', 'runs in', 'GPU'], rows()) };
