import type { DeliveryItem } from "../../clients/typescript/src/index.ts";

type Attempt = DeliveryItem["attempts"][number];

/** Whether a receiver accepted a delivery, by the status of its response. */
export const isSuccess = (status = 0): boolean => status >= 200 && status < 300;

/** The latest attempt of several deliveries. */
export const latestAttempt = (deliveries: readonly Pick<DeliveryItem, "attempts">[]): Attempt | undefined =>
  deliveries
    .flatMap(({ attempts }) => attempts)
    .sort((a, b) => (a.attempted_at < b.attempted_at ? 1 : -1))
    .at(0);
