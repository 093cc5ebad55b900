import { findVisibleEnvironments } from "#shared/environments/read-environments.ts";
import { invalid, RunyardError } from "#shared/errors.ts";
import { listTeamsToRead } from "#shared/principals/default-team.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { toTimestamp } from "#shared/wire/primitives.ts";
import type { AgentItem, AgentVariant, UnavailableRepository } from "#shared/wire/skills/skill.ts";
import { inSkillOrder, MAX_SKILLS } from "#shared/wire/skills/skill-file.ts";
import { type LastRuns, readLastRuns } from "./last-runs.ts";
import { type KnownPlace, readUpToDate } from "./refresh.ts";
import { findPlaces, listPlaces, type Place, toBaseUrl } from "./repository.ts";
import type { Skill } from "./skill.ts";
import type { SkillPorts } from "./skill-ports.ts";

/** Repositories of one list, counting each ref. */
const MAX_REPOSITORIES = 100;
/** Bytes of all prompts of the skills with one name, so that they fit into one response. */
const PROMPT_BYTES = 3 * 1024 * 1024;

export interface AgentsQuery {
  /** The token of the link of a shared environment. */
  readonly link: string | undefined;
  readonly repo: string | undefined;
  readonly refresh: boolean;
  readonly withMalformed: boolean;
}

export interface Agents {
  /** In no order. */
  readonly agents: readonly AgentItem[];
  readonly unavailable: readonly UnavailableRepository[];
  /** Seconds since the oldest discovery of these repositories; undefined without repositories. */
  readonly ageSeconds: number | undefined;
}

/**
 * Finds the skills in the repositories of the environments that the caller sees, or in one repository, by name.
 * @throws RunyardError if the one repository of the request cannot be read, and never was
 */
export async function findAgents(query: AgentsQuery, principal: Principal, ports: SkillPorts): Promise<Agents> {
  const teams = listTeamsToRead(principal);
  const all = listPlaces(await findVisibleEnvironments(principal, query.link, ports.table), teams);
  const places = query.repo === undefined ? all : findPlaces(query.repo, all, teams);
  if (places.length > MAX_REPOSITORIES) {
    const limit = `the limit is ${MAX_REPOSITORIES}: name one of them`;
    throw invalid("repo", `is required, since your environments have ${places.length} repositories and ${limit}`);
  }
  const [known, last] = await Promise.all([
    readUpToDate(places, query.refresh, ports),
    readLastRuns(principal, ports.table),
  ]);
  if (query.repo !== undefined && known.every((one) => one.known?.found === undefined)) throw toError(known, ports);
  const ages = known.map((one) => one.known?.found?.checkedAt).filter((time) => time !== undefined);
  return {
    agents: toAgents(known, last, query.withMalformed),
    unavailable: known.map((one) => toUnavailable(one)).filter((one) => one !== undefined),
    ageSeconds: ages.length === 0 ? undefined : Math.max(0, Math.floor((ports.now() - Math.min(...ages)) / 1000)),
  };
}

function toError([first]: readonly KnownPlace[], { now }: SkillPorts): RunyardError {
  const failure = first?.known?.failure;
  if (failure === undefined)
    return new RunyardError("resource_unavailable", { detail: NOT_READ, retryAfterSeconds: 10 });
  const { code, message, retry_at } = failure;
  const wait = { retryAfterSeconds: Math.max(1, Math.ceil((retry_at - now()) / 1000)) };
  return new RunyardError(code, { detail: `repo: ${message}`, ...(code === "resource_unavailable" ? wait : {}) });
}

const NOT_READ = "repo: its skills were not discovered in time";

function toUnavailable({ place, known }: KnownPlace): UnavailableRepository | undefined {
  const { owner, name, environments } = place;
  const { found, failure } = known ?? {};
  const unavailable = (error: string) => ({ owner, name, environments: [...environments], error });
  if (found === undefined) return unavailable(failure?.message ?? "its skills were not discovered in time");
  if (failure !== undefined)
    return unavailable(`${failure.message}; its skills are shown as of ${toTimestamp(found.checkedAt)}`);
  return found.leftOut === 0
    ? undefined
    : unavailable(`it has ${found.leftOut} skills beyond the ${MAX_SKILLS} that are listed`);
}

/** Groups skills by name. A skill of one repository at several refs is one variant: the one without a ref, else the first. */
function toAgents(known: readonly KnownPlace[], last: LastRuns, withMalformed: boolean): AgentItem[] {
  const variants = new Map<string, { readonly name: string; readonly variant: AgentVariant }>();
  for (const { place, known: state } of known) {
    const skills = state?.found?.skills ?? [];
    for (const skill of skills) {
      if (skill.error !== undefined && !withMalformed) continue;
      const id = `${toBaseUrl(place.url)}\u0000${skill.path}`;
      const before = variants.get(id);
      if (before === undefined) variants.set(id, { name: skill.name, variant: toVariant(skill, place, skills, last) });
      else variants.set(id, { ...before, variant: addEnvironments(before.variant, place) });
    }
  }
  const byName = new Map<string, AgentVariant[]>();
  for (const { name, variant } of variants.values()) byName.set(name, [...(byName.get(name) ?? []), variant]);
  return [...byName].map(([name, of]) => ({ name, variants: truncatePrompts(of.sort(byId)) }));
}

const byId = (a: AgentVariant, b: AgentVariant): number => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

function toVariant(skill: Skill, place: Place, all: readonly Skill[], last: LastRuns): AgentVariant {
  const { owner, name, environments } = place;
  const time = last.find(listSpecs(skill, place, all));
  return {
    id: `${owner}/${name}:${skill.path}`,
    description: skill.description,
    base_prompt: skill.base_prompt,
    source: { owner, name, skill_path: skill.path },
    environments: [...environments],
    ...(time === undefined ? {} : { last_run_timestamp: time === null ? null : toTimestamp(time) }),
    ...(skill.error === undefined ? {} : { error: skill.error }),
  };
}

function addEnvironments(variant: AgentVariant, { environments }: Place): AgentVariant {
  const known = new Set(variant.environments.map(({ uid }) => uid));
  return { ...variant, environments: [...variant.environments, ...environments.filter(({ uid }) => !known.has(uid))] };
}

/** Lists the specs by which a run may name the skill: its path, and its directory's name if it is the first of that name. */
function listSpecs({ path }: Skill, { owner, name }: Place, all: readonly Skill[]): string[] {
  const parseDirectory = (of: string) => of.split("/").at(-2) ?? "";
  const directory = parseDirectory(path);
  const [first] = all
    .map((other) => other.path)
    .filter((other) => parseDirectory(other) === directory)
    .sort(inSkillOrder);
  const places = [path, path.replace(/\/SKILL\.md$/, ""), ...(first === path ? [directory] : [])];
  return [`${owner}/${name}`, name].flatMap((repository) => places.map((spot) => `${repository}:${spot}`));
}

/** Truncates the longest prompts where they do not fit into one response. */
export function truncatePrompts<T extends Pick<AgentVariant, "base_prompt">>(variants: T[]): T[] {
  const bytes = variants.reduce((sum, { base_prompt }) => sum + Buffer.byteLength(JSON.stringify(base_prompt)), 0);
  if (bytes <= PROMPT_BYTES) return variants;
  const most = Math.floor(PROMPT_BYTES / variants.length / 2);
  return variants.map((variant) =>
    Buffer.byteLength(variant.base_prompt) <= most
      ? variant
      : {
          ...variant,
          base_prompt: `${truncate(variant.base_prompt, most)}\n[truncated here; the repository has the whole prompt]`,
        },
  );
}

/** Truncates a text to a number of bytes, at the end of a character. */
const truncate = (text: string, bytes: number): string =>
  new TextDecoder().decode(Buffer.from(text).subarray(0, bytes), { stream: true });
