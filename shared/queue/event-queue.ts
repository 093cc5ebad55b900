import * as v from "valibot";

/** The message of the queue of events: the delivery to decide on. */
export const EventMessage = v.object({ v: v.literal(1), trigger_uid: v.string(), delivery_id: v.string() });

/** Names a delivery to a trigger. */
export type DeliveryRef = Omit<v.InferOutput<typeof EventMessage>, "v">;

export interface EventQueue {
  /** Requests the decision on a delivery. Repeats are harmless. */
  sendDelivery(delivery: DeliveryRef): Promise<void>;
}
