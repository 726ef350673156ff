// @ts-nocheck: see multiply.js
import { attempt, multiplyWith } from './multiply.js';

const { createMsmEngine } = await import(new URLSearchParams(location.search).get('library'));
postMessage({ ...(await attempt(() => multiplyWith(createMsmEngine))), scope: self.constructor.name });
