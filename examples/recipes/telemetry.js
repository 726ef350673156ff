/** Traces calls of an engine as OpenTelemetry spans, with the events of each call. */
import { SpanStatusCode } from '@opentelemetry/api';

/**
 * Returns a function for `onEvent` of one engine. Each engine needs its own, because each counts
 * its calls from 0.
 *
 * A span begins when its call begins to run or to wait. Its events are `started`, `submitted` (the
 * GPU has all of its work) and `computed` (the GPU is done, and the rest runs on the CPU).
 *
 * @param {import('@opentelemetry/api').Tracer} tracer
 * @param {import('@opentelemetry/api').Attributes} attributes attributes of every span, such as the
 *   name of the engine
 * @returns {(event: import('webgpu-msm').EngineEvent) => void}
 */
export function traceCalls(tracer, attributes = {}) {
  const spans = new Map();
  return ({ event, call, kind, priority, bytes, at, error }) => {
    const time = performance.timeOrigin + at;
    let span = spans.get(call);
    if (span === undefined) {
      const said = { ...attributes, 'msm.call': call, 'msm.priority': priority, 'msm.bytes': bytes };
      span = tracer.startSpan(`msm ${kind}`, { startTime: time, attributes: said });
      spans.set(call, span);
    }
    if (event !== 'ended' && event !== 'refused') {
      span.addEvent(event, time);
      return;
    }
    if (error !== null) {
      span.setAttribute('error.type', error);
      span.setStatus({ code: SpanStatusCode.ERROR, message: error });
    }
    span.end(time);
    spans.delete(call);
  };
}
