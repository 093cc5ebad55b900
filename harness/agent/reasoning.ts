import type { ReasoningLevel } from "#shared/wire/limits/run-limits.ts";
import { toText } from "./dialects/members.ts";
import { findReasoning, refusesReasoning } from "./dialects/reasoning.ts";
import type { OptionalMembers } from "./optional-members.ts";

/** Sets the reasoning level of a run in its requests, and reports once per model what it cannot do of the level. */
export function createReasoning(
  level: ReasoningLevel,
  report: (modelId: string, detail: string) => void,
): OptionalMembers {
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
      const model = toText(body["model"]);
      if (refusing.has(model) || !refusesReasoning(status, text)) return false;
      refusing.add(model);
      reportOnce(model, "its server refuses it, and decides itself");
      return true;
    },
  };
}
