/** Money is stored in whole billionths of a dollar, so that sums are exact. */
const NANO_USD = 1_000_000_000;

export const toNanoUsd = (usd: number): number => Math.round(usd * NANO_USD);
export const toUsd = (nano: number): number => nano / NANO_USD;
/** Rounds to millionths of a dollar, as responses show costs. */
export const toRoundedUsd = (nano: number): number => Math.round(nano / 1_000) / 1_000_000;
