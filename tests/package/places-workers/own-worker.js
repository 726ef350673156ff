// @ts-nocheck: see compute.js
import '../node_modules/webgpu-msm/dist/webgpu-msm-worker.js';
