import type { Duplex } from "node:stream";

/** Passes on what each connection receives to the other one, until both have ended or one has failed. */
export function relay(one: Duplex, other: Duplex): void {
  for (const [from, to] of [
    [one, other],
    [other, one],
  ] as const) {
    if (from.destroyed) to.destroy();
    from.on("error", () => to.destroy());
    from.on("close", () => to.destroy());
    from.pipe(to);
  }
}
