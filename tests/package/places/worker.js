// @ts-nocheck: see multiply.js
import { createMsmEngine } from 'webgpu-msm';
import { codeFromText } from './code-from-text.js';
import { attempt, multiplyWith } from './multiply.js';

// No await at the top: vite, left as it is, builds workers as scripts.
attempt(() => multiplyWith(createMsmEngine)).then((result) => {
  self.postMessage({ ...result, scope: self.constructor.name, codeFromText: codeFromText() });
});
