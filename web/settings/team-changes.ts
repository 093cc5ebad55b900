import type { UpdateTeamRequest } from "../../clients/typescript/src/index.ts";
import { parseAmount } from "../ui/amount.ts";

export const LIMITS = [
  ["concurrency_limit", "Runs at the same time"],
  ["queue_limit", "Runs that wait"],
  ["identity_limit", "Agents"],
] as const;

export type Limit = (typeof LIMITS)[number][0] | "budget_usd_month" | "retention_days";

/**
 * The texts that a person has changed in the form of a team. An empty limit stands for the default, an empty budget or
 * retention for none.
 */
export type TeamChanges = Partial<Record<"name" | Limit, string>> & { readonly sharing?: "allowed" | "forbidden" };

/** The body that saves changes. What is not among them is left out, because another admin may have changed it meanwhile. */
export const toUpdateTeamRequest = ({ name, sharing, ...limits }: TeamChanges): UpdateTeamRequest => ({
  ...(name === undefined ? {} : { name: name.trim() }),
  settings: {
    ...Object.fromEntries(Object.entries(limits).map(([limit, text]) => [limit, parseAmount(text).value ?? null])),
    ...(sharing === undefined ? {} : { sharing_allowed: sharing === "allowed" }),
  },
});
