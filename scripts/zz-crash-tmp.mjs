import { closeGpu, openGpu } from '/work/main/scripts/adapter/open-gpu.mjs';
import { createMsmEngine } from '/work/main/dist/index.js';
import { bn254G1, makeKnownBases } from '/work/main/dev/oracle/known-bases.mjs';
const mode = process.argv[2];
const gpu = openGpu();
const engine = await createMsmEngine({ curve: 'bn254', gpu, tuning: { walkerSlots: 4, walkerThreadsPerWorkgroup: 8 } });
const known = makeKnownBases(bn254G1, 64, 1);
if (mode === 'idle') { }
else if (mode === 'bases') { await engine.loadBases(known.bytes); }
else if (mode === 'msm') { const b = await engine.loadBases(known.bytes); await engine.msm(b, known.logs); }
else if (mode === 'inflight') { const b = await engine.loadBases(known.bytes); void engine.msm(b, known.logs).catch(() => 0); await new Promise(r => setTimeout(r, 50)); }
else if (mode === 'refused') { await engine.loadBases(new Uint8Array(64).fill(3)).catch(() => 0); }
else if (mode === 'throw') { try { const b = await engine.loadBases(known.bytes); await engine.msm(b, known.logs); throw new Error('x'); } catch {} }
else if (mode === 'exit') { const b = await engine.loadBases(known.bytes); await engine.msm(b, known.logs); process.exit(3); }
else if (mode === 'exitinflight') { const b = await engine.loadBases(known.bytes); void engine.msm(b, known.logs).catch(() => 0); await new Promise(r => setTimeout(r, 100)); process.exit(3); }
else if (mode === 'destroyed') { const b = await engine.loadBases(known.bytes); await engine.msm(b, known.logs); engine.destroy(); }
closeGpu();
