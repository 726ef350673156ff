// @ts-nocheck: see compute.js
import 'webgpu-msm/worker';
