import { Command, type CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import type { UsageReport } from "../../../clients/typescript/src/index.ts";
import type { Context } from "../context.ts";
import { defined } from "../defined.ts";
import { type Column, printRows } from "../table.ts";
import { withExamples } from "./examples.ts";

type UsageBucket = UsageReport["buckets"][number];

/** What sandboxes have cost, shown where the service knows it. */
const COMPUTE: Column<UsageBucket> = {
  name: "compute",
  of: ({ compute_cost_usd: usd }) => (usd === undefined ? "" : `$${usd.toFixed(2)}`),
};

/** `runyard usage`: what ended runs have cost. */
export function usageCommand(context: Context): CommandUnknownOpts {
  const groups = ["day", "creator", "executor", "model", "schedule", "environment"] as const;
  const command = new Command("usage")
    .description("show what ended runs have used, by the UTC day on which they were created; 400 days at most")
    .option("--from <day>", "first day, such as 2026-05-01 (default: 29 days before the last)")
    .option("--to <day>", "last day (default: today)")
    .addOption(new Option("--by <group>", "what each row stands for").choices(groups).default("day" as const))
    .action(async ({ from, to, by }) => {
      const report = await (await context.client()).usage.retrieve(defined({ from, to, group_by: by }));
      const columns: Column<UsageBucket>[] = [
        { name: by, of: ({ key }) => key ?? "(none)" },
        { name: "runs", of: ({ runs }) => runs },
        { name: "succeeded", of: ({ succeeded }) => succeeded },
        { name: "failed", of: ({ failed }) => failed },
        { name: "tokens", of: ({ total_tokens }) => total_tokens },
        { name: "cost", of: ({ cost_usd }) => `$${cost_usd.toFixed(2)}` },
        ...(report.buckets.some(({ compute_cost_usd }) => compute_cost_usd !== undefined) ? [COMPUTE] : []),
        { name: "seconds", of: ({ run_seconds }) => run_seconds },
      ];
      context.show(report, () => {
        if (report.buckets.length === 0) context.note("No runs of that time have ended.");
        else printRows(context, report.buckets, columns);
      });
    });
  return withExamples(command, "runyard usage", "runyard usage --from 2026-05-01 --to 2026-05-31 --by creator");
}
