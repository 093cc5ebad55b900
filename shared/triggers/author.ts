import type { AnsweredEvent } from "./event.ts";
import { findSource } from "./sources/find-source.ts";
import { nameCredential } from "./systems/credential.ts";
import type { Trigger } from "./trigger-store.ts";

const NOT_ASKED = "Runyard cannot tell whether the author has write access";

/** Whether the system is asked what the author may do. Slack's events alone do not show who is a guest. */
export function asksForAccess(trigger: Trigger, event: AnsweredEvent): boolean {
  if (nameCredential(trigger, event) === undefined || trigger.allow?.anyone === true) return false;
  const standing = findSource(trigger).judge(event);
  return standing === "unknown" || (trigger.kind === "slack" && standing === "trusted");
}

/**
 * Why the author of an event may not have the trigger start runs, as far as the event itself shows; undefined if they may, or
 * where the system is asked.
 */
export function findAuthorRefusal(trigger: Trigger, event: AnsweredEvent): string | undefined {
  const { bots = [], anyone = false } = trigger.allow ?? {};
  const name = event.author.name;
  const who = name === "" ? "the author" : name;
  switch (findSource(trigger).judge(event)) {
    case "trusted":
      return undefined;
    case "bot":
      return bots.some((bot) => bot.toLowerCase() === name.toLowerCase())
        ? undefined
        : `${who} is a bot or an application that allow.bots does not name`;
    case "unknown":
      return anyone || asksForAccess(trigger, event)
        ? undefined
        : `${NOT_ASKED}: ${who}. Set credential, or allow.anyone to let everybody start runs.`;
    case "refused":
      return "the event could be of a fork, or does not tell who caused it";
  }
}
