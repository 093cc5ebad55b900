import type { Use } from "./host.ts";

export type Resource = keyof Use;
const RESOURCES = ["memoryBytes", "processes", "diskBytes", "files"] as const satisfies readonly Resource[];

/** By how much a resource exceeded its limit, and for how long by more than a tenth of it. */
export interface Excess {
  readonly resource: Resource;
  /** The most that was measured, as a share of the limit. */
  readonly most: number;
  /** The longest time above 110 % of the limit, in milliseconds. */
  readonly longestMs: number;
  /** The longest time between two measurements meanwhile: how long the machine let the lab wait, and so perhaps the harness. */
  readonly slowestMs: number;
}

/** The share of a limit that counts as exceeding it. */
const TOLERANCE = 1.1;

/** Follows the use of an execution. */
export function followUse(limits: Use) {
  const found = new Map<Resource, { most: number; longestMs: number; slowestMs: number; since: number | undefined }>();
  let lastAt = performance.now();
  return {
    add(use: Use): void {
      const now = performance.now();
      const gap = now - lastAt;
      lastAt = now;
      for (const resource of RESOURCES) {
        const share = use[resource] / limits[resource];
        const entry = found.get(resource) ?? { most: 0, longestMs: 0, slowestMs: 0, since: undefined };
        entry.most = Math.max(entry.most, share);
        if (share > TOLERANCE) {
          entry.since ??= now;
          entry.slowestMs = Math.max(entry.slowestMs, gap);
          entry.longestMs = Math.max(entry.longestMs, now - entry.since);
        } else entry.since = undefined;
        found.set(resource, entry);
      }
    },
    result: (): Excess[] =>
      [...found].map(([resource, { most, longestMs, slowestMs }]) => ({ resource, most, longestMs, slowestMs })),
  };
}
