// @ts-nocheck: see page.js
import * as library from 'webgpu-msm/service-worker';
import { answerWith } from './compute.js';

answerWith(library);
