import { createMsmEngine, MsmError } from 'webgpu-msm';

const button = document.querySelector('#compute');
const output = document.querySelector('#output');
const generator = { x: 1n, y: 2n, infinity: false };

/**
 * Created on first use and kept: the engine holds the GPU device, the compiled shaders and the
 * bases.
 */
let prover = null;

async function openProver() {
  const engine = await createMsmEngine({ curve: 'bn254' });
  // bases stay on the GPU; large sets are faster as bytes: x‖y, 32 bytes each, little-endian
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

/**
 * Names the backend. So few points run on the CPU, which is done before a GPU would answer: see
 * `tuning.cpuBelow`.
 */
function where({ lastRun, adapter }) {
  return lastRun.on === 'cpu' ? 'the CPU' : adapter.description || adapter.architecture || 'the GPU';
}

button.addEventListener('click', async () => {
  button.disabled = true;
  output.textContent = 'computing …';
  try {
    await compute();
  } catch (error) {
    // `code` is stable, for programs
    output.textContent = error instanceof MsmError ? `${error.code}: ${error.message}` : String(error);
  } finally {
    button.disabled = false;
  }
});
