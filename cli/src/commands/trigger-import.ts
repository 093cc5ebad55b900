import { isDeepStrictEqual } from "node:util";
import { Command } from "@commander-js/extra-typings";
import type { Runyard, TriggerItem } from "../../../clients/typescript/src/index.ts";
import type { Context } from "../context.ts";
import { usage } from "../problem.ts";
import { withExamples } from "./examples.ts";
import { createOne, listAll, readTriggers, type TriggerEntry, toRequest } from "./trigger-files.ts";

/** The members that no request can change: another value is another trigger. */
const FIXED = ["kind", "preset", "verification", "team"] as const;

interface FixedMembers {
  readonly kind: string;
  readonly preset?: unknown;
  readonly verification?: object | undefined;
  readonly team?: unknown;
}

/** Fills in the defaults of a new trigger. */
const toFixedMembers = ({ kind, preset, verification = { scheme: "standard" }, team = true }: FixedMembers) => ({
  kind,
  preset,
  verification: { encoding: "hex", ...verification },
  team,
});

/**
 * What an update sends for a member that the file omits. Scopes are kept, because `[]` would grant those of the credential, and so is
 * the prompt, because a preset provides one.
 */
const CLEARED = {
  enabled: true,
  mode: "normal",
  events: [],
  filter: "",
  thread_key: "",
  agent_uid: "",
  agent_config: {},
  budget_usd: null,
  followup_prompt: "",
  threads: "continue",
  busy: "enqueue",
  allow: {},
  credential: "",
  reply: { to: "none" },
  metadata: {},
  pause_after_failures: 0,
} as const;

export function importCommand(context: Context) {
  const command = new Command("import")
    .description("create or update triggers to match a file of `export`; importing it again changes nothing")
    .argument("<file>", "JSON or YAML; `-` reads it from standard input")
    .option("--dry-run", "print what would be done; changes nothing")
    .action(async (file, { dryRun = false }) => {
      const entries = await readTriggers(context, file);
      const client = await context.client();
      const present = await listAll(client.triggers);
      // All are matched before the first is written, so that an error in the file changes nothing.
      const plans = entries.map((entry) => plan(entry, entries, present));
      for (const one of plans) await applyPlan(one, { context, client, dryRun });
      const isCreated = plans.some(({ action }) => action === "create");
      if (isCreated && !dryRun && !context.json) noteNextSteps(context, entries);
    });
  return withExamples(
    command,
    "runyard triggers import triggers.yaml --dry-run",
    "runyard triggers import triggers.json",
  );
}

function noteNextSteps(context: Context, entries: readonly TriggerEntry[]): void {
  context.note(context.errStyle.dim("Save the secrets now: they are shown only once."));
  if (!entries.some(({ kind, credential }) => kind === "github" && credential === undefined)) return;
  const text = "Events of the GitHub App reach them once the team has proven its installation: runyard github claim";
  context.note(context.errStyle.dim(text));
}

type Plan =
  | { readonly action: "create"; readonly name: string; readonly body: object }
  | { readonly action: "update"; readonly name: string; readonly uid: string; readonly body: object }
  | { readonly action: "keep"; readonly name: string; readonly uid: string };

/** Matches an entry with a trigger: by its uid, else by its name. */
function plan(
  { uid: wanted, ...body }: TriggerEntry,
  entries: readonly TriggerEntry[],
  present: readonly TriggerItem[],
): Plan {
  const { name } = body;
  const byUid = present.find(({ uid }) => uid === wanted);
  // Those that other entries name by their uids are theirs.
  const usedUids = new Set(entries.map(({ uid }) => uid));
  const byName = byUid === undefined ? present.filter((one) => one.name === name && !usedUids.has(one.uid)) : [byUid];
  const remedy = "Give each a name of its own, or its uid.";
  if (byName.length > 1) throw usage(`Several triggers have the name ${name}.`, remedy);
  const [found] = byName;
  if (byUid === undefined && entries.filter((one) => one.name === name).length > 1) {
    throw usage(`Several entries of the file have the name ${name}.`, remedy);
  }
  if (found === undefined) return { action: "create", name, body };
  const { uid } = found;
  const before = toRequest(found);
  const [fixed, requested] = [toFixedMembers(before), toFixedMembers(body)];
  for (const member of FIXED) {
    if (isDeepStrictEqual(requested[member], fixed[member])) continue;
    const fix = `Delete the trigger ${uid} first, or give the entry another name.`;
    throw usage(`${name}: ${member} of a trigger cannot be changed.`, fix);
  }
  const members = omit(body, ["secret", ...FIXED]);
  const current = omit(before, FIXED);
  const { scopes, prompt } = found;
  const defaults = { ...CLEARED, scopes, prompt };
  const isEqual = isDeepStrictEqual({ ...defaults, ...current }, { ...defaults, ...members });
  return isEqual ? { action: "keep", name, uid } : { action: "update", name, uid, body: { ...CLEARED, ...members } };
}

type Members = Readonly<Record<string, unknown>>;

const omit = (members: Members, names: readonly string[]): Members =>
  Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)));

interface Target {
  readonly context: Context;
  readonly client: Runyard;
  readonly dryRun: boolean;
}

async function applyPlan(one: Plan, { context, client, dryRun }: Target): Promise<void> {
  const { action, name } = one;
  const show = (done: string, uid?: string) =>
    context.show({ name, action: done, ...(uid === undefined ? {} : { uid }) }, () => context.say(`${done}  ${name}`));
  if (action === "keep") return show("unchanged", one.uid);
  if (action === "create") return dryRun ? show("would create") : createOne(context, client, one.body);
  if (dryRun) return show("would change", one.uid);
  const path = `/agent/triggers/${encodeURIComponent(one.uid)}`;
  await client.request({ method: "PUT", path, body: one.body });
  show("changed", one.uid);
}
