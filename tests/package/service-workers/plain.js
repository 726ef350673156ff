// @ts-nocheck: see page.js
import * as library from '/node_modules/webgpu-msm/dist/service-worker.js';
import { answerWith } from './compute.js';

answerWith(library);
