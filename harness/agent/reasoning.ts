import type { ReasoningLevel } from "#shared/wire/limits/run-limits.ts";
import { type Members, toText } from "./dialects/members.ts";
import { findReasoning, refusesReasoning } from "./dialects/reasoning.ts";

/** Sets the reasoning level of requests to models. */
export interface Reasoning {
  /** Adds the members for the level to a request; returns the same request if there are none. */
  add(api: Parameters<typeof findReasoning>[0], body: Members): Members;
  /** Whether the response refuses these members. The model's later requests have none. */
  isRefused(body: Members, status: number, text: string): boolean;
}

/** Creates the setting of a run, and reports once per model what it cannot do of the level. */
export function createReasoning(level: ReasoningLevel, report: (modelId: string, detail: string) => void): Reasoning {
  const refusing = new Set<string>();
  const reported = new Set<string>();
  const reportOnce = (model: string, gap: string) => {
    if (reported.has(model)) return;
    reported.add(model);
    report(model, `${model} does not have the reasoning level ${level}: ${gap}`);
  };
  return {
    add(api, body) {
      const model = toText(body["model"]);
      if (refusing.has(model)) return body;
      const { members, gap } = findReasoning(api, body, level);
      if (gap !== undefined) reportOnce(model, gap);
      return Object.keys(members).length === 0 ? body : { ...body, ...members };
    },
    isRefused(body, status, text) {
      if (!refusesReasoning(status, text)) return false;
      const model = toText(body["model"]);
      refusing.add(model);
      reportOnce(model, "its server refuses it, and decides itself");
      return true;
    },
  };
}
