import { createMsmEngine, MsmError } from 'webgpu-msm';

const button = document.querySelector('#compute');
const output = document.querySelector('#output');
const generator = { x: 1n, y: 2n, infinity: false };

/** Made at the first use and kept: the engine holds the GPU device, the compiled shaders and the bases. */
let prover = null;

async function openProver() {
  const engine = await createMsmEngine({ curve: 'bn254' });
  // Bases stay on the GPU. Large sets are better given as bytes: x‖y, 32 bytes each, little-endian.
  const bases = await engine.loadBases([generator, generator]);
  return { engine, bases };
}

async function compute() {
  prover ??= await openProver();
  const { engine, bases } = prover;
  const sum = await engine.msm(bases, [2n, 3n]);
  output.textContent = [
    `x = 0x${sum.x.toString(16)}`,
    `y = 0x${sum.y.toString(16)}`,
    `${engine.lastRun.wallMs.toFixed(1)} ms on ${where(engine)}`,
  ].join('\n');
}

/** So few points are done before a GPU would have answered, and the engine does them on the CPU: see `tuning.cpuBelow`. */
function where({ lastRun, adapter }) {
  return lastRun.on === 'cpu' ? 'the CPU' : adapter.description || adapter.architecture || 'the GPU';
}

button.addEventListener('click', async () => {
  button.disabled = true;
  output.textContent = 'computing …';
  try {
    await compute();
  } catch (error) {
    // `code` is stable, for programs.
    output.textContent = error instanceof MsmError ? `${error.code}: ${error.message}` : String(error);
  } finally {
    button.disabled = false;
  }
});
