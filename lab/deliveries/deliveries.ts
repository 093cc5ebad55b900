import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { projectRoot } from "../../server/host/paths.ts";
import { describeMachine, load } from "../bench/machine.ts";
import { stateDirectory } from "../bench/single/server.ts";
import { runCampaign } from "./campaign.ts";
import { measureIngress } from "./ingress.ts";
import { Service } from "./service.ts";

const HELP = `Usage: npm run lab -- deliveries [options]

Sends events to a trigger of a service of its own, which is killed again and again: each event must have one outcome, each
thread one run and one comment. Then raises the rate of events until the service sheds them. Takes at most ten minutes.

  --seed N     the seed of the order of events (default: the time)
  --count N    deliveries of the campaign (default 10000)
  --out FILE   write the report to this file as JSON
  --help       show this text`;

/** Rates that no event of the campaign reaches. */
const ENVIRONMENT = { TRIGGER_EVENTS_PER_MINUTE: "1000000", THREAD_EVENTS_PER_MINUTE: "1000000" };

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seed: { type: "string", default: String(Date.now() % 2 ** 32) },
      count: { type: "string", default: "10000" },
      out: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const options = { seed: Number(values.seed), count: Number(values.count) };
  const before = load();
  const [first, second] = [await stateDirectory(), await stateDirectory()];
  try {
    console.log(`campaign: seed ${options.seed}, ${options.count} deliveries`);
    const campaign = await runCampaign(
      options,
      (github) => new Service(first.path, { ...ENVIRONMENT, RUNYARD_GITHUB_API_URL: github }),
    );
    console.log(JSON.stringify(campaign, null, 2));
    const ingress = await measureIngress(new Service(second.path, ENVIRONMENT));
    const commit = execFileSync("git", ["rev-parse", "HEAD"], { cwd: projectRoot, encoding: "utf8" }).trim();
    const report = { seed: options.seed, commit, machine: describeMachine(before), campaign, ingress };
    const text = `${JSON.stringify(report, null, 2)}\n`;
    console.log(text);
    if (values.out !== undefined) await writeFile(values.out, text);
    return campaign.problems.length === 0 && ingress.lost === 0 ? 0 : 1;
  } finally {
    await first.remove();
    await second.remove();
  }
}

process.exitCode = await main();
