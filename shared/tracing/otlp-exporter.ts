import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { detectResources, envDetector, type Resource, resourceFromAttributes } from "@opentelemetry/resources";
import type { Span, SpanExporter } from "./span.ts";
import type { OtlpProtocol } from "./tracing-settings.ts";

type ReadableSpan = Parameters<JsonExporter["export"]>[0][number];

/** Spans of one request, which keeps it below the usual 4 MiB of collectors. */
const SPANS_PER_REQUEST = 500;

const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };

/**
 * Sends spans by OTLP over HTTP, with OpenTelemetry's exporter. It reads address, headers, compression and time limit from the variables
 * `OTEL_EXPORTER_OTLP_*`, repeats what fails for a time, and takes the name of the service from `OTEL_SERVICE_NAME`.
 * @see https://opentelemetry.io/docs/specs/otel/protocol/exporter/
 */
export function otlpExporter(protocol: OtlpProtocol, headers?: Readonly<Record<string, string>>): SpanExporter {
  const options = headers === undefined ? {} : { headers };
  const exporter = protocol === "http/json" ? new JsonExporter(options) : new ProtobufExporter(options);
  const detected = detectResources({ detectors: [envDetector] });
  const resource = resourceFromAttributes({ "service.name": "runyard" }).merge(detected);
  return {
    async export(spans) {
      for (let from = 0; from < spans.length; from += SPANS_PER_REQUEST) {
        const part = spans.slice(from, from + SPANS_PER_REQUEST).map((span) => toReadableSpan(span, resource));
        await new Promise<void>((resolve, reject) => {
          exporter.export(part, ({ error, code }) =>
            code === 0 ? resolve() : reject(error ?? new Error("not exported")),
          );
        });
      }
    },
  };
}

function toReadableSpan(span: Span, resource: Resource): ReadableSpan {
  const { traceId, spanId, parentSpanId, errorType } = span;
  const context = (id: string) => ({ traceId, spanId: id, traceFlags: 1 });
  return {
    name: span.name,
    kind: KINDS[span.kind],
    spanContext: () => context(spanId),
    ...(parentSpanId === undefined ? {} : { parentSpanContext: context(parentSpanId) }),
    startTime: toTime(span.startedAt),
    endTime: toTime(span.endedAt),
    duration: toTime(span.endedAt - span.startedAt),
    status: { code: errorType === undefined ? SpanStatusCode.UNSET : SpanStatusCode.ERROR },
    attributes: { ...span.attributes, ...(errorType === undefined ? {} : { "error.type": errorType }) },
    resource,
    instrumentationScope: { name: "runyard" },
    links: [],
    events: [],
    ended: true,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** Seconds and nanoseconds. */
const toTime = (ms: number): [number, number] => [Math.floor(ms / 1_000), Math.round((ms % 1_000) * 1_000_000)];
