import * as v from "valibot";
import { invalid } from "#shared/errors.ts";
import type { LoadedSkill } from "#shared/records/run-body.ts";
import type { ExecutingHead } from "#shared/records/run-head.ts";
import { changeExecution } from "#shared/runs/change-run.ts";
import type { RunPorts } from "#shared/runs/ports.ts";
import { keys } from "#shared/table/keys.ts";
import type { TransactionWrite } from "#shared/table/table.ts";
import type { ResolvePromptRequest } from "#shared/wire/harness.ts";

type Skill = NonNullable<v.InferOutput<typeof ResolvePromptRequest>["skill"]>;

const SkillPath = v.pipe(
  v.string(),
  v.maxBytes(512),
  v.regex(/^(?!\.)[^/:\s]+\/(?!\.\.?:)[^/:\s]+:(?!\/)(?!(?:.*\/)?\.\.?(?:\/|$))[^\s].*$/),
);

/**
 * Notes which skill the execution has found, so that the run shows its name and is found by its file's path, however it
 * was named. IdempotentRequest for each run: what a later execution finds does not change it.
 */
export async function noteSkill(first: ExecutingHead, { name, path }: Skill, ports: RunPorts): Promise<ExecutingHead> {
  const spec = first.p.skill;
  if (spec === undefined || path === undefined || first.p.skill_path !== undefined) return first;
  if (!v.is(SkillPath, path)) throw invalid("skill.path", "must have the form owner/repo:path/to/SKILL.md");
  const loaded: LoadedSkill = { name, full_path: path };
  return changeExecution(first, ports, (head) => {
    if (head.p.skill_path !== undefined) return { result: head };
    const p = { ...head.p, skill_path: path };
    return {
      change: { events: [], set: { p }, also: copies(head, p, loaded) },
      result: { ...head, p },
    };
  });
}

/** Index entries are made of several items of a run; each carries the same facets. */
function copies(head: ExecutingHead, p: ExecutingHead["p"], loaded: LoadedSkill): TransactionWrite[] {
  const run = head.run_id;
  return [
    { kind: "update", key: keys.body(run), set: { agent_skill: { ...loaded } } },
    { kind: "update", key: keys.event(run, 1), set: { p } },
    ...(p.schedule === undefined
      ? []
      : [{ kind: "update", key: keys.scheduleEntry(run), set: { p } } satisfies TransactionWrite]),
  ];
}
