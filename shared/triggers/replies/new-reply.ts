import { randomId } from "#shared/ids.ts";
import { logLine } from "#shared/log/log.ts";
import type { Put } from "#shared/table/table.ts";
import { type AccessPorts, toSystem } from "../access.ts";
import type { AnsweredEvent } from "../event.ts";
import { findSource } from "../sources/find-source.ts";
import { nameCredential, readCredential, requestSystem } from "../systems/credential.ts";
import type { Trigger } from "../trigger-store.ts";
import { putReply } from "./reply-store.ts";

/** Where the replies of a trigger to an event go; undefined where it sends none. */
function findPlaces(trigger: Trigger, event: AnsweredEvent) {
  const { reply } = trigger;
  const system = toSystem(trigger);
  const named = nameCredential(trigger, event);
  if (reply?.to !== "thread" || named === undefined || system === undefined) return undefined;
  const places = findSource(trigger).toPlaces?.(event);
  return places && { ...places, system, named, show: reply.show };
}

/** The write of the reply to an event that starts a run; undefined where there is none. */
export function toReply(runId: string, trigger: Trigger, event: AnsweredEvent, now: number): Put | undefined {
  const { thread, isPull, isPublic, system, named, show } = findPlaces(trigger, event) ?? {};
  if (thread === undefined || system === undefined || named === undefined) return undefined;
  const { uid: trigger_uid } = trigger;
  const shows = show ?? (isPublic === false ? (["cost", "link"] as const) : []);
  const pull = isPull === true ? { pull: thread.item } : {};
  const place = { system, ...thread };
  return putReply({ run_id: runId, ...named, trigger_uid, place, nonce: randomId(), shows: [...shows], ...pull }, now);
}

/** Adds a reaction to what an event is about. One that fails is not repeated: the reply follows. */
export async function react(trigger: Trigger, event: AnsweredEvent, ports: AccessPorts): Promise<void> {
  const { message, system, named } = findPlaces(trigger, event) ?? {};
  if (message === undefined || system === undefined || named === undefined) return;
  try {
    const secret = await readCredential(named, ports);
    const place = { system, ...message };
    await requestSystem(ports.systems, { action: "react", ...secret, place });
  } catch (error) {
    logLine("warn", "an event has no reaction", { trigger_uid: trigger.uid, error });
  }
}
