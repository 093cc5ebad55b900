import * as v from "valibot";
import type { CreateScheduleRequest, RunAgentRequest, RunItem } from "../../clients/typescript/src/index.ts";
import { Overlap } from "../schedules/overlap.ts";
import { parseAmount } from "../ui/amount.ts";
import { checkMetadata, formatMetadata, parseMetadata } from "../ui/metadata-text.ts";

const Harness = v.picklist(["default", "claude", "codex", "gemini"]);
export type Harness = v.InferOutput<typeof Harness>;
export const parseHarness = (value: string): Harness => v.parse(Harness, value);

const Mode = v.picklist(["normal", "plan", "orchestrate"]);
export type Mode = v.InferOutput<typeof Mode>;
export const parseMode = (value: string): Mode => v.parse(Mode, value);

/** What the form holds. Empty text means that the member is left out. */
export const Draft = v.object({
  prompt: v.string(),
  title: v.string(),
  /** The names of the files that are attached. The files themselves are not kept. */
  attached: v.array(v.string()),
  model: v.string(),
  environment: v.string(),
  skill: v.string(),
  repository: v.string(),
  ref: v.string(),
  identity: v.string(),
  mode: Mode,
  isPersonal: v.boolean(),
  isPublic: v.boolean(),
  budget: v.string(),
  minutes: v.optional(v.string(), ""),
  steps: v.optional(v.string(), ""),
  harness: Harness,
  /** A line `name=value` for each member. */
  metadata: v.string(),
  /** Further members of the configuration, as JSON. */
  further: v.string(),
  isScheduled: v.boolean(),
  scheduleName: v.string(),
  cron: v.string(),
  timeZone: v.string(),
  overlap: Overlap,
});
export type Draft = Readonly<v.InferOutput<typeof Draft>>;

export interface DraftProps {
  readonly draft: Draft;
  readonly onChange: (changes: Partial<Draft>) => void;
  readonly error: unknown;
}

export const emptyDraft = (): Draft => ({
  prompt: "",
  title: "",
  attached: [],
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
  minutes: "",
  steps: "",
  harness: "default",
  metadata: "",
  further: "",
  isScheduled: false,
  scheduleName: "",
  cron: "0 9 * * 1-5",
  timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC",
  overlap: "allow",
});

/** The draft of a run like another one, whose mode and attachments are not known. */
export function toDraft({ prompt, title, agent_config: config = {}, executor, scope, metadata = {} }: RunItem): Draft {
  const {
    model_id,
    environment_id,
    session_sharing,
    budget_usd,
    harness,
    skill_spec,
    skills = [],
    ...limited
  } = config;
  const { timeout_minutes, max_steps, ...others } = limited;
  const { repositories = [], name: _, ...rest } = others;
  const [repository] = repositories;
  const isOneRepository =
    repositories.length === 1 && Object.keys(repository ?? {}).every((name) => /^(url|ref)$/.test(name));
  const further = {
    ...rest,
    ...(repositories.length === 0 || isOneRepository ? {} : { repositories }),
    ...(skills.length > 1 ? { skills } : {}),
    ...(harness !== undefined && Object.keys(harness).length > 1 ? { harness } : {}),
  };
  return {
    ...emptyDraft(),
    prompt,
    title,
    model: model_id ?? "",
    environment: environment_id ?? "",
    skill: skills.length > 1 ? "" : (skill_spec ?? ""),
    repository: isOneRepository ? (repository?.url ?? "") : "",
    ref: isOneRepository ? (repository?.ref ?? "") : "",
    identity: executor?.type === "service_account" ? executor.uid : "",
    isPersonal: scope?.type === "User",
    isPublic: session_sharing?.public_access !== undefined,
    budget: budget_usd === undefined ? "" : String(budget_usd),
    minutes: timeout_minutes === undefined ? "" : String(timeout_minutes),
    steps: max_steps === undefined ? "" : String(max_steps),
    harness: v.is(Harness, harness?.type) ? harness.type : "default",
    metadata: formatMetadata(metadata),
    further: Object.keys(further).length === 0 ? "" : JSON.stringify(further, undefined, 2),
  };
}

type Config = NonNullable<RunAgentRequest["config"]>;
const Members = v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.unknown()));

/** What is wrong with the texts of a draft that only the form reads, if anything is. */
export function checkTexts({
  budget,
  minutes,
  steps,
  further,
  metadata,
}: Draft): Partial<Record<"budget" | "minutes" | "steps" | "further" | "metadata", string>> {
  const { error } = parseAmount(budget);
  const members = v.safeParse(Members, further);
  const isObject = further.trim() === "" || (members.success && !further.trim().startsWith("["));
  const masked = members.success ? findMasked(members.output) : undefined;
  const wrong = checkMetadata(metadata);
  return {
    ...(error === undefined ? {} : { budget: error }),
    ...(isWholeUpTo(minutes, 10_080) ? {} : { minutes: "Write a whole number from 1 to 10,080." }),
    ...(isWholeUpTo(steps, 10_000) ? {} : { steps: "Write a whole number from 1 to 10,000." }),
    ...(isObject ? {} : { further: 'Write a JSON object, such as { "idle_timeout_minutes": 5 }.' }),
    ...(masked === undefined ? {} : { further: `Write the value of ${masked} again. Secrets are not shown.` }),
    ...(wrong === undefined ? {} : { metadata: wrong }),
  };
}

/** Whether a text is empty, or a whole number within the bounds. */
const isWholeUpTo = (text: string, most: number): boolean =>
  text.trim() === "" || (/^\d{1,5}$/.test(text.trim()) && Number(text) >= 1 && Number(text) <= most);

/** Responses show this in place of a secret. */
const MASK = "***";

/** The name of the first member whose value is a secret that is not shown. */
function findMasked(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const found = member === MASK ? name : findMasked(member);
    if (found !== undefined) return found;
  }
  return undefined;
}

function toConfig(draft: Draft): Config | undefined {
  const budget = parseAmount(draft.budget).value;
  const further = v.safeParse(Members, draft.further);
  const config: Config = {
    ...(further.success ? further.output : {}),
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
    ...(budget === undefined ? {} : { budget_usd: budget }),
    ...(draft.minutes.trim() === "" ? {} : { timeout_minutes: Number(draft.minutes) }),
    ...(draft.steps.trim() === "" ? {} : { max_steps: Number(draft.steps) }),
    ...(draft.harness === "default" || (further.success && "harness" in further.output)
      ? {}
      : { harness: { type: draft.harness } }),
    ...(draft.isPublic ? { session_sharing: { public_access: "VIEWER" } } : {}),
  };
  return Object.keys(config).length === 0 ? undefined : config;
}

/** The body of POST /agent/runs, without attachments. */
export function toRunRequest(draft: Draft): RunAgentRequest {
  const config = toConfig(draft);
  const metadata = parseMetadata(draft.metadata);
  return {
    ...(draft.prompt.trim() === "" ? {} : { prompt: draft.prompt }),
    ...(draft.title.trim() === "" ? {} : { title: draft.title.trim() }),
    ...(config === undefined ? {} : { config }),
    ...(draft.identity === "" ? {} : { agent_identity_uid: draft.identity }),
    ...(draft.isPersonal ? { team: false } : {}),
    ...(draft.mode === "normal" ? {} : { mode: draft.mode }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

/** The body of POST /agent/schedules. */
export function toScheduleRequest(draft: Draft): CreateScheduleRequest {
  const config = toConfig(draft);
  const metadata = parseMetadata(draft.metadata);
  return {
    name: draft.scheduleName.trim(),
    cron_schedule: draft.cron.trim(),
    time_zone: draft.timeZone.trim(),
    ...(draft.prompt.trim() === "" ? {} : { prompt: draft.prompt }),
    ...(config === undefined ? {} : { agent_config: config }),
    ...(draft.identity === "" ? {} : { agent_uid: draft.identity }),
    ...(draft.isPersonal ? { team: false } : {}),
    ...(draft.mode === "normal" ? {} : { mode: draft.mode }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(draft.overlap === "allow" ? {} : { overlap: draft.overlap }),
  };
}
