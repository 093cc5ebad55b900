import type { TriggerEvent } from "./event.ts";
import { findSource } from "./sources/find-source.ts";
import type { Trigger } from "./trigger-store.ts";

const NOT_ASKED = "Runyard cannot tell whether the author has write access";

/** Why the author of an event may not have the trigger start runs; undefined if they may. */
export function findAuthorRefusal(trigger: Trigger, event: TriggerEvent): string | undefined {
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
      return anyone ? undefined : `${NOT_ASKED}: ${who}. Set allow.anyone to let everybody start runs.`;
    case "refused":
      return "the event could be of a fork, or does not tell who caused it";
  }
}
