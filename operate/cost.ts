import { readFileSync } from "node:fs";
import path from "node:path";
import * as v from "valibot";
import { say } from "../server/host/terminal.ts";
import { CountedCalls, idleMonth, oneRun } from "./cost/costs.ts";
import { readDeployed } from "./cost/deployed.ts";
import { type BillLine, PRICE_TABLE, PRICES_CHECKED, sumOf } from "./cost/price-table.ts";

/** `npm run aws -- cost`: what the deployment costs while it is idle, and what a run of ten minutes costs. `name=value` is a setting. */
const settings = Object.fromEntries(
  process.argv.slice(2).map((setting) => {
    const [name = "", ...value] = setting.split("=");
    return [name, value.join("=")];
  }),
);
const counted = v.parse(
  v.pipe(v.string(), v.parseJson(), CountedCalls),
  readFileSync(path.join(import.meta.dirname, "cost/counted-calls.json"), "utf8"),
);
const deployed = readDeployed(settings);
say(`Prices of us-east-1, compared on ${PRICES_CHECKED}; docs/cost.md has the sources and what is assumed.`);
print("A month in which nothing happens", idleMonth(deployed, counted), { digits: 2, isMonth: true });
print(`A run of ${counted.run.minutes} minutes, without tokens`, oneRun(deployed, counted), {
  digits: 6,
  isMonth: false,
});

/** Prints a bill. Only a month has allowances. */
function print(
  title: string,
  bill: readonly BillLine[],
  { digits, isMonth }: { digits: number; isMonth: boolean },
): void {
  const dollars = (amount: number) => `$${amount.toFixed(digits)}`.padStart(12);
  say(`\n${title}`);
  say(`${"".padEnd(42)}${"quantity".padStart(14)}${"list price".padStart(12)}${isMonth ? "charged".padStart(12) : ""}`);
  for (const { what, price, quantity, list, charged } of bill) {
    say(
      `${what.padEnd(42)}${quantity.toFixed(2).padStart(14)}${dollars(list)}${isMonth ? dollars(charged) : ""}  ${PRICE_TABLE[price].per}`,
    );
  }
  say(`${"in all".padEnd(56)}${dollars(sumOf(bill, "list"))}${isMonth ? dollars(sumOf(bill, "charged")) : ""}`);
}
