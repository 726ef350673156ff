// @ts-nocheck: see page.js
import { createMsmEngine } from '/node_modules/webgpu-msm/dist/index.js';
import { answerWith } from './compute.js';

answerWith({ createMsmEngine });
