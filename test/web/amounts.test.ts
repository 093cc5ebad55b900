import { expect, it } from "vitest";
import { toUpdateTeamRequest } from "../../web/settings/team-changes.ts";
import { parseAmount } from "../../web/ui/amount.ts";

it.each([
  ["", {}],
  ["  ", {}],
  ["0", { value: 0 }],
  [" 10 ", { value: 10 }],
  ["2.5", { value: 2.5 }],
  ["2.", { value: 2 }],
  [".5", { value: 0.5 }],
])("parseAmount reads %j as %j", (text, amount) => {
  expect(parseAmount(text)).toEqual(amount);
});

it.each(["$10", "10 USD", "1 000", "1.000.5", ".", "-1", "1e3", "0x10", "Infinity", "ten"])(
  "parseAmount refuses %j",
  (text) => {
    expect(parseAmount(text)).toEqual({ error: "Write a plain number, such as 10." });
  },
);

it.each([
  ["nothing", {}, { settings: {} }],
  ["the name", { name: " Store " }, { name: "Store", settings: {} }],
  ["a limit", { queue_limit: "40 " }, { settings: { queue_limit: 40 } }],
  ["the budget of a month", { budget_usd_month: "2.5" }, { settings: { budget_usd_month: 2.5 } }],
  ["a retention", { retention_days: "30" }, { settings: { retention_days: 30 } }],
  ["public runs that are forbidden", { sharing: "forbidden" as const }, { settings: { sharing_allowed: false } }],
  ["a retention that is removed", { retention_days: " " }, { settings: { retention_days: null } }],
  ["a budget that is removed", { budget_usd_month: "" }, { settings: { budget_usd_month: null } }],
  ["a limit that becomes the default", { identity_limit: " " }, { settings: { identity_limit: null } }],
])("toUpdateTeamRequest contains only what was changed: %s", (_, changes, request) => {
  expect(toUpdateTeamRequest(changes)).toEqual(request);
});
