import { Duration } from "aws-cdk-lib";

/** The requests that a web app of another origin may send to the API, and the response headers that it may read. */
export function webCors(webUrl: string) {
  return {
    allowOrigins: [new URL(webUrl).origin],
    allowHeaders: [
      "authorization",
      "content-type",
      "idempotency-key",
      "last-event-id",
      "x-run-source",
      "x-stainless-retry-count",
      "x-team-uid",
    ],
    exposeHeaders: ["age", "x-request-id", "x-should-retry", "idempotent-replay", "retry-after", "location"],
    maxAge: Duration.hours(1),
  };
}
