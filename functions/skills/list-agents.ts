import * as v from "valibot";
import { sortByText } from "#shared/arrays.ts";
import { endpoint } from "#shared/http/endpoint.ts";
import { one } from "#shared/http/request.ts";
import { pageQuery, paginate } from "#shared/pagination/page.ts";
import { byName, latestFirst } from "#shared/pagination/places.ts";
import { listTeamsToRead } from "#shared/principals/default-team.ts";
import { toPrincipalKey } from "#shared/principals/principal.ts";
import { findAgents } from "#shared/skills/list-agents.ts";
import type { SkillPorts } from "#shared/skills/skill-ports.ts";
import { Flag, textOfBytes } from "#shared/wire/primitives.ts";
import { type AgentItem, ListAgentsResponse } from "#shared/wire/skills/skill.ts";

const nameKey = ({ name }: AgentItem): string => `${byName(name)}\u0000${name}`;

/** Sort keys of the list: by name without regard to case, or the latest run first and agents that never ran last. */
const places = {
  name: nameKey,
  last_run: (agent: AgentItem): string => {
    const times = agent.variants.map(({ last_run_timestamp }) => Date.parse(last_run_timestamp ?? "") || 0);
    return `${latestFirst(Math.max(...times))}#${nameKey(agent)}`;
  },
} as const;

/**
 * GET /agent: lists the skills in the repositories of the caller's environments. With `repo`, only the skills of that
 * repository are listed. Results are cached for 10 minutes; `refresh=true` reads the repositories again, and the header
 * `Age` gives the age of the oldest cached result in seconds. Repositories that cannot be read are listed in
 * `unavailable`. More than 100 repositories return 400; use `repo` then.
 */
export const listAgents = endpoint({
  request: {
    query: {
      ...pageQuery,
      /** Lists only this repository: `owner/repo`, or its URL without credentials. */
      repo: one(textOfBytes(2048)),
      /** The token of a shared link, which grants read access to its environment. */
      link: one(textOfBytes(512)),
      /** Whether to read the repositories again instead of using cached results. @default false */
      refresh: one(Flag),
      /** Whether to include malformed skills, with the reason in `error`. @default false */
      include_malformed_skills: one(Flag),
      /** The sort key. `last_run` returns the latest run first, and skills without runs last. @default name */
      sort_by: one(v.picklist(["name", "last_run"])),
    },
  },
  reply: { 200: ListAgentsResponse },
  errors: ["resource_not_found", "external_authentication_required"],
  async run({ query, principal }, ports: SkillPorts) {
    const { repo, link, refresh = false, include_malformed_skills: withMalformed = false, sort_by = "name" } = query;
    const placeOf = places[sort_by];
    const binding = [
      "agents",
      toPrincipalKey(principal),
      listTeamsToRead(principal),
      repo ?? "",
      link ?? "",
      withMalformed,
      sort_by,
    ];
    const { agents, unavailable, ageSeconds } = await findAgents(
      { repo, link, refresh, withMalformed },
      principal,
      ports,
    );
    const all = sortByText(agents, placeOf);
    const { items, page } = await paginate(all, query, { binding, placeOf }, ports.cursors);
    return {
      status: 200,
      body: { agents: items, ...(unavailable.length === 0 ? {} : { unavailable: [...unavailable] }), ...page },
      ...(ageSeconds === undefined ? {} : { headers: { age: String(ageSeconds) } }),
    };
  },
});
