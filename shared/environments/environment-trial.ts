import { RUNBOOK_MODEL } from "#shared/models/models.ts";
import type { RunAgentRequest } from "#shared/wire/runs/new-run.ts";
import type { Environment } from "./environment.ts";

/** The request of a run that sets up an environment and does nothing else. The built-in model needs no network and no key. */
export const toTrialRequest = ({ uid, name, owner }: Pick<Environment, "uid" | "name" | "owner">): RunAgentRequest => ({
  title: `Set up ${name}`.slice(0, 300),
  prompt: "Set up the environment and do nothing else.\n\n```sh\ntrue\n```",
  config: { environment_id: uid, model_id: RUNBOOK_MODEL },
  team: owner.type === "Team",
});
