/** `npm run aws -- doctor`: checks an AWS account before the first deployment and before the first model of Amazon Bedrock. */
import { parseArgs } from "node:util";
import { printCheck } from "../server/command/print-check.ts";
import { checkBedrock, checkConcurrency } from "./aws-checks.ts";

const HELP = `Usage: npm run aws -- doctor [options]

Checks the account and the region of your AWS credentials (AWS_PROFILE, AWS_REGION): the concurrent executions of Lambda, and with
--bedrock whether the account may call a model of Amazon Bedrock, by one call that costs a few tokens. Says what to do about each problem.
A principal with the rights of AWS Marketplace subscribes the account to the model by that call.

  --bedrock      call a model of Amazon Bedrock
  --model ID     the model (default: global.anthropic.claude-sonnet-5-5)
  --help         show this text

Exit code: 1 if a check failed, else 0.`;

process.exitCode = await main();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      bedrock: { type: "boolean", default: false },
      model: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(HELP);
    return 0;
  }
  const model = values.model?.replace(/^bedrock\//, "") ?? "global.anthropic.claude-sonnet-5-5";
  const checks = [await checkConcurrency()];
  if (values.bedrock || values.model !== undefined) checks.push(await checkBedrock(model));
  for (const check of checks) printCheck(check);
  return checks.some(({ status }) => status === "failed") ? 1 : 0;
}
