// @ts-nocheck: tests/package/service-worker.test.ts copies this folder into a project that has the
// package
const script = new URLSearchParams(location.search).get('script');
const registration = await navigator.serviceWorker.register(script, { type: 'module' });
const worker = registration.installing ?? registration.waiting ?? registration.active;
const { port1, port2 } = new MessageChannel();
port1.onmessage = ({ data }) => {
  document.querySelector('output').textContent = JSON.stringify(data);
};
worker.postMessage(null, [port2]);
