import { setTimeout as pause } from "node:timers/promises";
import { type Api, callApi } from "../../server/host/api.ts";
import { RunAgentResponse } from "../../shared/wire/runs/new-run.ts";
import { untilEnded } from "./latency.ts";
import { type Memory, readMemory } from "./memory.ts";

/** The most memory that the local cloud has while so many runs work at once. */
export async function memoryUnder(api: Api, pid: number, runs: number): Promise<Memory | undefined> {
  const prompt = "```sh\nsleep 6\n```";
  const created = await Promise.all(
    Array.from({ length: runs }, () => callApi(api, "POST", "/agent/runs", RunAgentResponse, { prompt })),
  );
  let most: Memory | undefined;
  let working = true;
  const watch = async (): Promise<void> => {
    while (working) {
      const now = await readMemory(pid);
      if (now !== undefined && now.rssMb > (most?.rssMb ?? 0)) most = now;
      await pause(1_000);
    }
  };
  const watching = watch();
  try {
    for (const { run_id } of created) await untilEnded(api, run_id);
  } finally {
    working = false;
    await watching;
  }
  return most;
}
