import { invalid } from "#shared/errors.ts";
import type { ModelRequest } from "./dialect.ts";

/** What providers bill at another price than that of the list. */
const PREMIUM: Readonly<Record<string, readonly unknown[]>> = {
  service_tier: ["priority", "scale", "fast"],
  speed: ["fast"],
};

/** Members by which a request refers to input that it does not bring along. */
const ELSEWHERE = ["previous_response_id", "conversation", "prompt"];

/** Refuses what would cost another price than the one that is counted. */
export function refusePremium(request: ModelRequest): void {
  for (const [name, values] of Object.entries(PREMIUM)) {
    if (values.includes(request[name])) {
      throw invalid(name, "is counted at the standard price here, and therefore not to be had at another one");
    }
  }
}

/** Refuses, where there is a budget, a request of which nobody knows how large it is. */
export function refuseUnseenInput(request: ModelRequest): void {
  const name = ELSEWHERE.find((member) => typeof request[member] === "string" || isObject(request[member]));
  if (name !== undefined)
    throw invalid(name, "cannot be used where the run has a budget: send the whole input instead");
}

const isObject = (value: unknown): boolean => typeof value === "object" && value !== null;
