import { sqsClient } from "#shared/aws/clients.ts";
import type { HttpPorts } from "#shared/http/endpoint.ts";
import { sqsRunQueue } from "#shared/queue/run-queue.ts";
import { setting, settingIfAny } from "#shared/settings.ts";
import type { LimitPorts, TeamPorts } from "#shared/teams/ports.ts";
import { liveIdentities } from "./identities.ts";

/** The ports of teams and people on AWS. */
export const liveTeams = (): TeamPorts & HttpPorts => ({ ...liveIdentities(), webUrl: settingIfAny("WEB_URL") });

/** As `liveTeams`, for changes of limits, by which runs that wait may begin. */
export const liveLimits = (): LimitPorts & HttpPorts => {
  const queues = { runs: () => setting("RUNS_QUEUE_URL"), ends: () => setting("ENDS_QUEUE_URL") };
  return { ...liveTeams(), queue: sqsRunQueue(sqsClient(), queues) };
};
