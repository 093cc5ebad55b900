// Generated from docs/openapi.json by `npm run clients:generate`. Do not edit.
/** The values of `DeliveryState`. */
export const DELIVERY_STATES = [
  "pending",
  "delivered",
  "failed",
] as const;
