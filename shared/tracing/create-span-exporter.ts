import type { SpanExporter } from "./span.ts";
import { type OtlpProtocol, parseOtlpHeaders, readOtlpProtocol } from "./tracing-settings.ts";

/**
 * Creates the exporter that the variables `OTEL_*` configure, or none where they name no collector. OpenTelemetry is loaded for the first spans.
 * @param readHeaders headers of the requests in place of `OTEL_EXPORTER_OTLP_HEADERS`
 * @throws if the variables are not valid
 */
export function createSpanExporter(
  env: Readonly<Record<string, string | undefined>>,
  readHeaders?: () => Promise<string | undefined>,
): SpanExporter | undefined {
  const protocol = readOtlpProtocol(env);
  if (protocol === undefined) return undefined;
  let opened: Promise<SpanExporter> | undefined;
  return {
    async export(spans) {
      opened ??= openExporter(protocol, readHeaders);
      await (await opened.catch(forget)).export(spans);
    },
  };

  /** The next spans try again. */
  function forget(error: unknown): never {
    opened = undefined;
    throw error;
  }
}

async function openExporter(
  protocol: OtlpProtocol,
  readHeaders: (() => Promise<string | undefined>) | undefined,
): Promise<SpanExporter> {
  const [{ otlpExporter }, headers] = await Promise.all([import("./otlp-exporter.ts"), readHeaders?.()]);
  return otlpExporter(protocol, headers === undefined ? undefined : parseOtlpHeaders(headers));
}
