// Generated from docs/openapi.json by `npm run docs`. Do not edit.
/** The values of `DeliveryState`. */
export const DELIVERY_STATES = [
  "pending",
  "delivered",
  "failed",
] as const;
