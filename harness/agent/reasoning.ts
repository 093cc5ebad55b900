import type { ReasoningLevel } from "#shared/wire/limits/run-limits.ts";
import { toText } from "./dialects/members.ts";
import { findReasoning, refusesReasoning } from "./dialects/reasoning.ts";
import { createOptional, type OptionalMembers } from "./optional-members.ts";

/** Sets the reasoning level of a run in its requests, and reports once per model what it cannot do of the level. */
export function createReasoning(
  level: ReasoningLevel,
  report: (modelId: string, detail: string) => void,
): OptionalMembers {
  const reported = new Set<string>();
  const reportOnce = (model: string, gap: string) => {
    if (reported.has(model)) return;
    reported.add(model);
    report(model, `${model} does not have the reasoning level ${level}: ${gap}`);
  };
  const { add, isRefused } = createOptional(refusesReasoning, (api, body) => {
    const { members, gap } = findReasoning(api, body, level);
    if (gap !== undefined) reportOnce(toText(body["model"]), gap);
    return Object.keys(members).length === 0 ? body : { ...body, ...members };
  });
  return {
    add,
    isRefused(body, status, text) {
      const isRefusal = isRefused(body, status, text);
      if (isRefusal) reportOnce(toText(body["model"]), "its server refuses it, and decides itself");
      return isRefusal;
    },
  };
}
