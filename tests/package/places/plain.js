// @ts-nocheck: see multiply.js
import { attempt, multiplyWith, tell } from './multiply.js';

/** Where the library is: an address, of this server or another. */
const library = new URLSearchParams(location.search).get('library');
const { createMsmEngine, MsmError } = await import(library);
const { calibrate, indexedDbStore } = await import(new URL('calibrate.js', new URL(library, location)));
const multiply = (options) => multiplyWith(createMsmEngine, options);

/** By now the package has been imported, and nothing of it called. */
async function sideEffects() {
  await new Promise((resolve) => setTimeout(resolve));
  const { names, requests } = globalThis.before;
  return {
    newGlobals: Reflect.ownKeys(globalThis)
      .filter((name) => !names.has(name))
      .map(String),
    requests,
  };
}

/** The adapter as it is, with a device of the engine's. */
async function asItIs() {
  const { features } = await navigator.gpu.requestAdapter();
  return { ...(await multiply()), hasTimestamps: features.has('timestamp-query') };
}

/** A device of the caller's with nothing asked for. */
async function defaultDevice() {
  const adapter = await navigator.gpu.requestAdapter();
  const device = await adapter.requestDevice();
  const errors = [];
  device.addEventListener('uncapturederror', ({ error }) => errors.push(error.message));
  const result = await multiply({ device });
  const { maxStorageBufferBindingSize, maxBufferSize } = device.limits;
  return { ...result, limits: { maxStorageBufferBindingSize, maxBufferSize }, errors };
}

/** An adapter that has no optional feature, and refuses a device that wants one. */
async function bareAdapter() {
  const asked = [];
  const gpu = {
    async requestAdapter(options) {
      const adapter = await navigator.gpu.requestAdapter(options);
      return {
        features: new Set(),
        limits: adapter.limits,
        info: adapter.info,
        async requestDevice(descriptor = {}) {
          const { requiredFeatures = [] } = descriptor;
          asked.push(...requiredFeatures);
          if (asked.length > 0) throw new TypeError(`this adapter has no ${asked}`);
          return adapter.requestDevice(descriptor);
        },
      };
    },
  };
  return { ...(await multiply({ gpu })), asked };
}

/** A store in the browser's database, opened anew for every call. */
async function indexedDb() {
  const store = indexedDbStore();
  const first = await store.get('one');
  await store.set('one', 'two');
  return { first, later: await indexedDbStore().get('one') };
}

/** Tests that both modules have the same engine: an error of one is an `MsmError` of the other. */
async function oneEngine() {
  const failed = await calibrate({}).catch((error) => error);
  return { isMine: failed instanceof MsmError, code: failed.code };
}

/** The same in a worker that no bundler has seen. */
function bareWorker() {
  const worker = new Worker(`./plain-worker.js?${new URLSearchParams({ library })}`, { type: 'module' });
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(`the worker failed: ${message}`));
  });
}

tell({
  sideEffects: await sideEffects(),
  asItIs: await attempt(asItIs),
  defaultDevice: await attempt(defaultDevice),
  bareWorker: await attempt(bareWorker),
  bareAdapter: await attempt(bareAdapter),
  indexedDb: await attempt(indexedDb),
  oneEngine: await attempt(oneEngine),
});
