import * as v from "valibot";
import type { CreateScheduleRequest, RunAgentRequest, RunItem } from "../../clients/typescript/src/index.ts";

const Mode = v.picklist(["normal", "plan", "orchestrate"]);
export type Mode = v.InferOutput<typeof Mode>;
export const parseMode = (value: string): Mode => v.parse(Mode, value);

/** What the form holds. Empty text means that the member is left out. */
export interface Draft {
  readonly prompt: string;
  readonly title: string;
  readonly model: string;
  readonly environment: string;
  readonly skill: string;
  readonly repository: string;
  readonly ref: string;
  readonly identity: string;
  readonly mode: Mode;
  readonly isPersonal: boolean;
  readonly isPublic: boolean;
  readonly budget: string;
  readonly isScheduled: boolean;
  readonly scheduleName: string;
  readonly cron: string;
  readonly timeZone: string;
}

export const emptyDraft = (): Draft => ({
  prompt: "",
  title: "",
  model: "",
  environment: "",
  skill: "",
  repository: "",
  ref: "",
  identity: "",
  mode: "normal",
  isPersonal: false,
  isPublic: false,
  budget: "",
  isScheduled: false,
  scheduleName: "",
  cron: "0 9 * * 1-5",
  timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC",
});

/** The draft of a run like another one. */
export function toDraft({ prompt, title, agent_config: config, executor, scope }: RunItem): Draft {
  const repository = config?.repositories?.[0];
  return {
    ...emptyDraft(),
    prompt,
    title,
    model: config?.model_id ?? "",
    environment: config?.environment_id ?? "",
    skill: config?.skill_spec ?? "",
    repository: repository?.url ?? "",
    ref: repository?.ref ?? "",
    identity: executor?.type === "service_account" ? executor.uid : "",
    isPersonal: scope?.type === "User",
    isPublic: config?.session_sharing?.public_access !== undefined,
    budget: config?.budget_usd === undefined ? "" : String(config.budget_usd),
  };
}

type Config = NonNullable<RunAgentRequest["config"]>;

function toConfig(draft: Draft): Config | undefined {
  const config: Config = {
    ...(draft.model === "" ? {} : { model_id: draft.model }),
    ...(draft.environment === "" ? {} : { environment_id: draft.environment }),
    ...(draft.skill.trim() === "" ? {} : { skill_spec: draft.skill.trim() }),
    ...(draft.repository.trim() === ""
      ? {}
      : {
          repositories: [
            { url: draft.repository.trim(), ...(draft.ref.trim() === "" ? {} : { ref: draft.ref.trim() }) },
          ],
        }),
    ...(draft.budget.trim() === "" ? {} : { budget_usd: Number(draft.budget) }),
    ...(draft.isPublic ? { session_sharing: { public_access: "VIEWER" } } : {}),
  };
  return Object.keys(config).length === 0 ? undefined : config;
}

/** The body of POST /agent/runs, without attachments. */
export function toRunRequest(draft: Draft): RunAgentRequest {
  const config = toConfig(draft);
  return {
    ...(draft.prompt.trim() === "" ? {} : { prompt: draft.prompt }),
    ...(draft.title.trim() === "" ? {} : { title: draft.title.trim() }),
    ...(config === undefined ? {} : { config }),
    ...(draft.identity === "" ? {} : { agent_identity_uid: draft.identity }),
    ...(draft.isPersonal ? { team: false } : {}),
    ...(draft.mode === "normal" ? {} : { mode: draft.mode }),
  };
}

/** The body of POST /agent/schedules. */
export function toScheduleRequest(draft: Draft): CreateScheduleRequest {
  const config = toConfig(draft);
  return {
    name: draft.scheduleName.trim(),
    cron_schedule: draft.cron.trim(),
    time_zone: draft.timeZone.trim(),
    ...(draft.prompt.trim() === "" ? {} : { prompt: draft.prompt }),
    ...(config === undefined ? {} : { agent_config: config }),
    ...(draft.identity === "" ? {} : { agent_uid: draft.identity }),
    ...(draft.isPersonal ? { team: false } : {}),
    ...(draft.mode === "normal" ? {} : { mode: draft.mode }),
  };
}
