import { refuseBlockedRepositories, refuseBlockedServers } from "#shared/environments/outward-urls.ts";
import { refuseDisks } from "#shared/environments/repositories.ts";
import { invalid, RunyardError } from "#shared/errors.ts";
import { checkModel, defaultModel, priceOf } from "#shared/models/models.ts";
import type { AmbientAgentConfig, ResolvedAgentConfig } from "#shared/wire/config.ts";
import { RUN_SOURCES, type RunAgentRequest, type RunSourceType } from "#shared/wire/run.ts";
import { checkHarness, checkNamedModel, modelOfHarness } from "./harness-model.ts";

/** Bytes of a configuration: with the prompt and the metadata it has to go into one item of the table. */
const CONFIG_BYTES = 256 * 1024;

/** Refuses what the shapes alone cannot tell is wrong, naming the field and the remedy. */
export function checkRequest(request: RunAgentRequest): void {
  const hasSkill = skillsOf(request).length > 0;
  if ((request.prompt ?? "").trim() === "" && !hasSkill && request.conversation_id === undefined) {
    throw invalid("prompt", "is required unless a skill or conversation_id is given");
  }
  if (request.attachments !== undefined && request.images !== undefined) {
    throw invalid("images", "is the older name of attachments: give one of the two");
  }
  checkNamedModel(request);
  checkConfig(request);
}

/** Refuses a configuration that no run could have; also one that came about from the defaults of others. */
export function checkConfig(request: Pick<RunAgentRequest, "config" | "execution_location">): void {
  const { config } = request;
  if (Buffer.byteLength(JSON.stringify(config ?? {})) > CONFIG_BYTES) {
    throw invalid("config", `must have at most ${CONFIG_BYTES} bytes as JSON`);
  }
  if (config?.model_id !== undefined) checkModel(config.model_id, "config.model_id");
  refuseDisks(config?.repositories, "config.repositories");
  refuseBlockedRepositories(config?.repositories, "config.repositories");
  refuseBlockedServers(config?.mcp_servers, "config.mcp_servers");
  const host = config?.worker_host;
  if (host !== undefined && !isHosted(host)) throw later("config.worker_host", "a self-hosted worker");
  checkHarness(request);
}

const later = (field: string, what: string) =>
  new RunyardError("operation_not_supported", { detail: `${field}: ${what} is not supported by this release` });

/** `hosted` and `warp` are names of this service's own sandboxes. */
const isHosted = (host: string): boolean => host === "hosted" || host === "warp";

/** The skills of a request: `skill` wins over the configuration's. */
export function skillsOf(request: RunAgentRequest): readonly string[] {
  if (request.skill !== undefined) return [request.skill];
  const { skill_spec, skills } = request.config ?? {};
  return skills ?? (skill_spec === undefined ? [] : [skill_spec]);
}

/** The configuration that the run will show: the request's with every default filled in. */
export function resolveConfig(request: RunAgentRequest): ResolvedAgentConfig {
  const { skill_spec: _, skills: __, worker_host: ___, ...config }: AmbientAgentConfig = request.config ?? {};
  const skills = skillsOf(request);
  const [first] = skills;
  const name = config.name ?? (first === undefined ? undefined : skillName(first));
  const harnessModel = modelOfHarness(config);
  const modelId = harnessModel ?? config.harness?.model_id ?? config.model_id ?? defaultModel();
  if (config.budget_usd !== undefined && priceOf(modelId) === undefined) {
    throw invalid("config.budget_usd", `cannot be kept with the model ${modelId}, whose price is not known`);
  }
  return {
    ...config,
    ...(name === undefined ? {} : { name }),
    model_id: modelId,
    ...(config.harness === undefined || harnessModel === undefined
      ? {}
      : { harness: { ...config.harness, model_id: harnessModel } }),
    computer_use_enabled: config.computer_use_enabled ?? false,
    idle_timeout_minutes: config.idle_timeout_minutes ?? 10,
    ...(first === undefined ? {} : { skill_spec: first, skills: [...skills] }),
  };
}

/** The skill's name in its spec: the directory of a SKILL.md, or what stands behind the colon. */
function skillName(spec: string): string {
  const place = spec.slice(spec.indexOf(":") + 1);
  const parts = place.split("/");
  return (parts.at(-1) === "SKILL.md" ? parts.at(-2) : parts.at(-1)) ?? place;
}

/** The source a caller states, as far as it may; anything unknown counts as API. */
export function sourceOf(header: (name: string) => string | undefined, isChild: boolean): RunSourceType {
  if (isChild) return "ORCHESTRATION";
  const stated = header("x-run-source") ?? header("x-oz-api-source");
  const known = RUN_SOURCES.find((source) => source === stated);
  return known === undefined || known === "SCHEDULED_AGENT" || known === "ORCHESTRATION" ? "API" : known;
}
