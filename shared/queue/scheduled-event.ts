import * as v from "valibot";

/** The event that an EventBridge rule sends at its rate, such as each minute. */
export const ScheduledEvent = v.object({
  source: v.literal("aws.events"),
  "detail-type": v.literal("Scheduled Event"),
});
export type ScheduledEvent = v.InferOutput<typeof ScheduledEvent>;
