// @ts-nocheck: see multiply.js
import { codeFromText } from './code-from-text.js';
import { attempt, multiply } from './multiply.js';

// No await at the top: vite, left as it is, builds workers as scripts.
attempt(multiply).then((result) => {
  self.postMessage({ ...result, scope: self.constructor.name, codeFromText: codeFromText() });
});
