import * as v from "valibot";

const PROTOCOLS = ["http/protobuf", "http/json"] as const;

/** The encoding of the spans that are sent. */
export type OtlpProtocol = (typeof PROTOCOLS)[number];

/**
 * Reads the protocol from the variables `OTEL_*`; undefined where they name no collector, or disable OpenTelemetry.
 * @throws if the address of the collector is not an http or https URL, or the protocol is not supported
 */
export function readOtlpProtocol(env: Readonly<Record<string, string | undefined>>): OtlpProtocol | undefined {
  const find = (name: string) => {
    const names = [`OTEL_EXPORTER_OTLP_TRACES_${name}`, `OTEL_EXPORTER_OTLP_${name}`];
    return names.flatMap((each) => (env[each] ? [{ name: each, value: env[each] }] : []))[0];
  };
  const endpoint = find("ENDPOINT");
  const isOff = env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true" || env["OTEL_TRACES_EXPORTER"] === "none";
  if (endpoint === undefined || isOff) return undefined;
  const scheme = URL.parse(endpoint.value)?.protocol;
  if (scheme !== "http:" && scheme !== "https:") {
    throw new Error(`${endpoint.name} must be an http or https address, such as http://localhost:4318`);
  }
  const protocol = find("PROTOCOL");
  const parsed = v.safeParse(v.optional(v.picklist(PROTOCOLS), "http/protobuf"), protocol?.value);
  if (parsed.success) return parsed.output;
  throw new Error(`${protocol?.name} must be ${PROTOCOLS.join(" or ")}, not "${protocol?.value}"`);
}

/** Parses headers as `OTEL_EXPORTER_OTLP_HEADERS` has them: `name=value` with commas, values in percent-encoding. */
export function parseOtlpHeaders(text: string): Record<string, string> {
  const pairs = text.split(",").flatMap((pair) => {
    const [, name, value] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? [];
    return name === undefined || value === undefined ? [] : [[name, decodeValue(value)] as const];
  });
  return Object.fromEntries(pairs);
}

function decodeValue(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
