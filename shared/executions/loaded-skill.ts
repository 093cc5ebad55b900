import * as v from "valibot";
import { invalid } from "#shared/errors.ts";
import type { LoadedSkill } from "#shared/records/run-body.ts";
import type { ExecutingHead } from "#shared/records/run-head.ts";
import { changeFacets, copyFacets } from "#shared/runs/archiving/facet-store.ts";
import { changeExecution } from "#shared/runs/change-run.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { ResolvePromptRequest } from "#shared/wire/harness.ts";
import { noteLoadedSkill } from "./loaded-skill-store.ts";

type Skill = NonNullable<v.InferOutput<typeof ResolvePromptRequest>["skill"]>;

const SkillPath = v.pipe(
  v.string(),
  v.maxBytes(512),
  v.regex(/^(?!\.)[^/:\s]+\/(?!\.\.?:)[^/:\s]+:(?!\/)(?!(?:.*\/)?\.\.?(?:\/|$))[^\s].*$/),
);

/**
 * Records the skill that the execution has loaded, so that the run shows its name and is found by the path of its file, however the
 * request named it. The first execution decides: what a later one loads changes nothing.
 */
export async function recordSkill(
  first: ExecutingHead,
  { name, path }: Skill,
  ports: RunPorts,
): Promise<ExecutingHead> {
  const spec = first.p.skill;
  if (spec === undefined || path === undefined || first.p.skill_path !== undefined) return first;
  if (!v.is(SkillPath, path)) throw invalid("skill.path", "must have the form owner/repo:path/to/SKILL.md");
  const loaded: LoadedSkill = { name, full_path: path };
  return changeExecution(first, ports, (head) => {
    if (head.p.skill_path !== undefined) return { result: head };
    const p = { ...head.p, skill_path: path };
    const also = { skill: noteLoadedSkill(head.run_id, loaded), facets: copyFacets(head.run_id, p) };
    return {
      change: { events: [], ...changeFacets(head, p), also },
      result: { ...head, p, facet_changes: head.facet_changes + 1 },
    };
  });
}
