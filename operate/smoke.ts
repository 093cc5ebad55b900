import { parseArgs } from "node:util";
import { checkModel, checks } from "./smoke/checks.ts";
import { connect } from "./smoke/service.ts";

const HELP = `npm run aws -- smoke --base-url <address> --api-key <key> [--schedule] [--model <id>]

Checks a running deployment through its API, as a client does: runs with commands, files, a follow-up and a cancel. It uses the
embedded test model, so no tokens are billed without --model. What it creates is ended or deleted again; ended runs stay in the list.

  --base-url   ends in /api/v1; RUNYARD_BASE_URL by default
  --api-key    a personal or agent key; RUNYARD_API_KEY by default
  --schedule   also waits up to three minutes until a schedule fires
  --model      also lets this model answer one prompt: the first call of a model in an account may need approvals
  --help       this text`;

process.exitCode = await main();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      "base-url": { type: "string" },
      "api-key": { type: "string" },
      schedule: { type: "boolean", default: false },
      model: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  const baseUrl = values["base-url"] ?? process.env["RUNYARD_BASE_URL"];
  const apiKey = values["api-key"] ?? process.env["RUNYARD_API_KEY"];
  if (values.help || baseUrl === undefined || apiKey === undefined) {
    console.log(HELP);
    return values.help ? 0 : 2;
  }
  const service = connect(baseUrl.replace(/\/$/, ""), apiKey);
  let failed = 0;
  const selection = checks.filter(({ isSlow }) => values.schedule || isSlow === undefined);
  const all = values.model === undefined ? selection : [...selection, checkModel(values.model)];
  for (const { name, check } of all) {
    const began = performance.now();
    const problem = await check(service).then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    );
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    console.log(`${problem === undefined ? "ok    " : "FAILED"} ${name} (${seconds} s)`);
    if (problem !== undefined) console.log(`       ${problem}`);
    failed += Number(problem !== undefined);
  }
  return failed === 0 ? 0 : 1;
}
