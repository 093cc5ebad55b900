/** One timed step of a run, in the terms of OpenTelemetry. It never has prompts, outputs or arguments. */
export interface Span {
  readonly name: string;
  readonly kind: "server" | "client" | "internal";
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits, derived from what the span describes: a span that is exported again has the same one. */
  readonly spanId: string;
  /** @default none: the span is the root of its trace */
  readonly parentSpanId?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  /** Why the step failed, as a short code. @default it did not fail */
  readonly errorType?: string | undefined;
}

/** Sends spans to a collector. */
export interface SpanExporter {
  /** @throws if the collector does not accept them in time */
  export(spans: readonly Span[]): Promise<void>;
}
