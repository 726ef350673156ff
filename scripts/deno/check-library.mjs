/**
 * deno run --allow-read --allow-env scripts/deno/check-library.mjs FOLDER
 *
 * Runs the built library in Deno. Deno's WebGPU is wgpu and its WGSL compiler is naga; all other
 * tests use Dawn. FOLDER holds the library as index.js, shaders as shaders.json, and an MSM as
 * msm.json. The outcome is printed as one line of JSON, which tests/package/deno.test.ts judges.
 */

/** @typedef {{ name: string, source: string }} Shader */

/** Functions of Deno that Node's types do not declare. */
const { args, readTextFile, cwd } =
  /** @type {{ Deno: { args: string[], readTextFile(path: string): Promise<string>, cwd(): string } }} */ (
    /** @type {unknown} */ (globalThis)
  ).Deno;

const folder = args[0] ?? cwd();
/** Reads a JSON file of the folder. @param {string} name */
const read = async (name) => JSON.parse(await readTextFile(`${folder}/${name}`));

/**
 * Compiles a shader and returns the compiler's errors.
 *
 * @param {GPUDevice} device
 * @param {Shader} shader
 * @returns {Promise<string[]>}
 */
async function complaints(device, { source }) {
  device.pushErrorScope('validation');
  const module = device.createShaderModule({ code: source });
  const [error, { messages }] = await Promise.all([device.popErrorScope(), module.getCompilationInfo()]);
  const errors = messages
    .filter(({ type }) => type === 'error')
    .map(({ lineNum, message }) => `${lineNum}: ${message}`);
  return [...(error ? [error.message] : []), ...errors];
}

const adapter = await navigator.gpu.requestAdapter({ powerPreference: 'high-performance' });
if (adapter === null) {
  console.log(JSON.stringify({ adapter: null }));
} else {
  const device = await adapter.requestDevice();
  const shaders = [];
  for (const shader of /** @type {Shader[]} */ (await read('shaders.json'))) {
    shaders.push({ name: shader.name, complaints: await complaints(device, shader) });
  }
  device.destroy();

  const { createMsmEngine } = await import(`file://${folder}/index.js`);
  const { points, scalars, repetitions } = await read('msm.json');
  const engine = await createMsmEngine({ curve: 'bn254', tuning: { cpuBelow: 0 } });
  const bases = await engine.loadBases(Uint8Array.from(points));
  const sums = [];
  for (let i = 0; i < repetitions; i++) {
    const { x, y, infinity } = await engine.msm(bases, Uint8Array.from(scalars));
    sums.push({ x: String(x), y: String(y), infinity });
  }
  const { lastRun, pipelines } = engine;
  engine.destroy();
  console.log(
    JSON.stringify({
      adapter: engine.adapter,
      shaders,
      sums,
      on: lastRun.on,
      wallMs: lastRun.wallMs,
      pipelines: pipelines.length,
    }),
  );
}
