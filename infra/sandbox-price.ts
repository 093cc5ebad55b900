import { eventSources } from "./event-sources.ts";
import type { Settings } from "./settings.ts";

/** Prices of Lambda in us-east-1, in US dollars, compared as docs/cost.md says. */
export const GB_SECOND_USD = 0.0000133334;
export const DISK_GB_SECOND_USD = 0.0000000309;

/** The disk of a sandbox that is a function, unless the settings say otherwise. */
export const SANDBOX_DISK_MB = 4096;
/** The disk that a function has free of charge. */
const FREE_DISK_MB = 512;

/** What an hour in a sandbox that is a function costs at list price, in US dollars. */
export function sandboxUsdPerHour({
  sandboxMemoryMb = eventSources.runSandbox.memoryMb,
  sandboxDiskMb = SANDBOX_DISK_MB,
}: Pick<Settings, "sandboxMemoryMb" | "sandboxDiskMb">): number {
  const memoryGb = sandboxMemoryMb / 1024;
  const diskGb = Math.max(0, sandboxDiskMb - FREE_DISK_MB) / 1024;
  return 3600 * (memoryGb * GB_SECOND_USD + diskGb * DISK_GB_SECOND_USD);
}
