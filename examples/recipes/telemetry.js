/** Spans of OpenTelemetry: one for each call of an engine, with what happens to it in between. */
import { SpanStatusCode } from '@opentelemetry/api';

/**
 * What to give an engine as `onEvent`. Each engine wants one of its own, as each counts its calls from 0.
 *
 * A span begins when its call does, or begins to wait. `started`, `submitted` (the GPU has all of its work) and `computed` (it is done, what follows is on
 * the CPU) are its events.
 *
 * @param {import('@opentelemetry/api').Tracer} tracer
 * @param {import('@opentelemetry/api').Attributes} attributes of every span: which engine this is, say
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
