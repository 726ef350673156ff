// @ts-nocheck: see multiply.js
/** Names of globals before the package is imported, and the count of requests to WebGPU. */
globalThis.before = { names: null, requests: 0 };
for (const [type, method] of [
  [GPU, 'requestAdapter'],
  [GPUAdapter, 'requestDevice'],
]) {
  const original = type.prototype[method];
  type.prototype[method] = function (...options) {
    globalThis.before.requests++;
    return original.apply(this, options);
  };
}
globalThis.before.names = new Set(Reflect.ownKeys(globalThis));
