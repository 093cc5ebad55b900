import { readFile } from "node:fs/promises";
import * as v from "valibot";
import type { AmbientAgentConfig, Repository, Runyard } from "../../clients/typescript/src/index.ts";
import { defined } from "./defined.ts";
import { environmentUid } from "./names.ts";
import { usage } from "./problem.ts";

type ReasoningLevel = NonNullable<AmbientAgentConfig["reasoning_level"]>;

/** What a person says about how a run is carried out. */
export interface ConfigInput {
  /** Uid or name. */
  readonly env?: string | undefined;
  /** URLs, each with `#ref` where it is not the default branch. */
  readonly repo?: readonly string[] | undefined;
  readonly skill?: string | undefined;
  readonly model?: string | undefined;
  readonly worker?: string | undefined;
  readonly fallbackModel?: string[] | undefined;
  readonly reasoning?: ReasoningLevel | undefined;
  readonly budget?: number | undefined;
  /** Minutes. */
  readonly timeout?: number | undefined;
  readonly maxSteps?: number | undefined;
  readonly maxTokens?: number | undefined;
  /** A file with a JSON Schema. */
  readonly outputSchema?: string | undefined;
  /** A JSON file with other members of the configuration; the other options take precedence. */
  readonly config?: string | undefined;
}

/** The configuration that is meant; undefined if nothing was said. */
export async function buildConfig(
  client: Pick<Runyard, "environments">,
  input: ConfigInput,
): Promise<AmbientAgentConfig | undefined> {
  const { env, repo, skill, model, worker, config, outputSchema } = input;
  const options = defined({
    environment_id: env === undefined ? undefined : await environmentUid(client, env),
    repositories: repo?.map(parseRepository),
    skill_spec: skill,
    model_id: model,
    worker_host: worker,
    fallback_model_ids: input.fallbackModel,
    reasoning_level: input.reasoning,
    budget_usd: input.budget,
    timeout_minutes: input.timeout,
    max_steps: input.maxSteps,
    max_total_tokens: input.maxTokens,
    output_schema: outputSchema === undefined ? undefined : await readObject(outputSchema, "--output-schema"),
  });
  const whole = config === undefined ? options : { ...(await readObject(config, "--config")), ...options };
  return Object.keys(whole).length === 0 ? undefined : whole;
}

/** `https://example.com/shop.git#v2`: a repository, and which branch, tag or commit of it, whose name may contain a `#`. */
export function parseRepository(text: string): Repository {
  const at = text.indexOf("#");
  return at === -1 ? { url: text } : { url: text.slice(0, at), ref: text.slice(at + 1) };
}

async function readObject(file: string, option: string): Promise<Record<string, unknown>> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw usage(`${option} ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  });
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), v.record(v.string(), v.unknown())), text);
  if (!parsed.success) throw usage(`${option} ${file} is not a JSON object.`);
  // The API validates its members.
  return JSON.parse(text);
}
