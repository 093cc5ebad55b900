import type { DisplayEvent } from "./display-events.ts";

/** What a run is at after an event; undefined if the event does not change that. */
export function activityAfter(event: DisplayEvent): string | undefined {
  switch (event.kind) {
    case "action":
      return event.title;
    case "result":
    case "text":
      return "agent at work";
    case "step":
      return activityAfterStep(event);
  }
}

function activityAfterStep({ type, state, name, detail }: DisplayEvent & { kind: "step" }): string | undefined {
  if (type === "run_waiting") return detail ?? "waiting for capacity";
  if (type === "model_retry") return "waiting for the model";
  if (type === "agent_started") return "agent at work";
  if (type === "setup_started") return [name, detail].filter((part) => part !== undefined).join(" ");
  if (type.startsWith("setup_")) return "setup";
  return state === undefined ? undefined : (STATES[state] ?? state);
}

const STATES: Readonly<Record<string, string>> = {
  QUEUED: "queued",
  PENDING: "starting the sandbox",
  CLAIMED: "claimed by a worker",
  INPROGRESS: "setup",
};
