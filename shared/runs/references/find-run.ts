import { notFound } from "#shared/errors.ts";
import { type AgentPrincipal, listVisibleOwners, type PersonalPrincipal } from "#shared/principals/principal.ts";
import { readHeads } from "#shared/records/run-head.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import { listReferringRuns } from "./reference-store.ts";

/** Runs of each owner that are looked at; more than one, since runs may be deleted while their references still exist. */
const RUNS = 20;

/** Finds the newest visible run that an event of this URL has started, or that has reported it as an artifact. */
export async function findReferringRun(
  url: string,
  principal: PersonalPrincipal | AgentPrincipal,
  { table }: Pick<RunPorts, "table">,
): Promise<string> {
  const owners = listVisibleOwners(principal);
  const found = await Promise.all(owners.map((owner) => listReferringRuns(owner, url, RUNS, table)));
  // The ids of runs sort by their creation.
  const newestFirst = found.flat().sort().reverse();
  const heads = await readHeads(newestFirst, table);
  const newest = heads.find((head) => head !== undefined);
  if (newest === undefined) throw notFound("run with this external reference");
  return newest.run_id;
}
