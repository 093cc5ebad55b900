import type { EventPorts } from "#shared/conversations/live-output.ts";
import type { HttpPorts } from "#shared/http/endpoint.ts";
import { setting } from "#shared/settings.ts";
import { createRunEndpointPorts } from "./runs.ts";

/** A Lambda function may take 900 seconds; the rest is for the start and the end of a stream. */
const STREAM_SECONDS = 870;

/** The ports of the function that streams the events of runs. */
export const createStreamPorts = (): EventPorts & HttpPorts & { readonly originSecret: string } => ({
  ...createRunEndpointPorts(),
  streamSeconds: STREAM_SECONDS,
  originSecret: setting("ORIGIN_SECRET"),
});
