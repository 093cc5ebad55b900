import { Command, Option } from "@commander-js/extra-typings";
import { REASONING_LEVELS } from "../../../clients/typescript/src/index.ts";
import { parseNumber, repeated, wholeNumber } from "../options.ts";

/** A command with the options that say how a run is carried out. */
export function commandWithConfig(name: string) {
  return new Command(name)
    .option("--env <uid|name>", "environment to run in")
    .option("--repo <url>", "repository to clone, `URL#ref` for a branch, tag or commit; repeatable", repeated)
    .option("--skill <spec>", "skill to start from: `owner/repo:name` or `owner/repo:path/to/SKILL.md`")
    .option("--model <id>", "model; `runyard models list` lists them")
    .addOption(
      new Option("--reasoning <level>", "how much the model reasons before it responds").choices(REASONING_LEVELS),
    )
    .option("--fallback-model <id>", "model to continue with while a provider is down; repeatable", repeated)
    .option("--budget <usd>", "most that the run may spend on models, in US dollars", parseNumber)
    .option("--timeout <minutes>", "minutes from its start in which the run has to end", wholeNumber(1, 10_080))
    .option("--max-steps <n>", "model responses that the run may have", wholeNumber(1, 10_000))
    .option("--max-tokens <n>", "tokens that the run may use", wholeNumber(1, 1_000_000_000))
    .option("--output-schema <file>", "JSON Schema that the agent's final message has to fit")
    .option("--worker <id>", "self-hosted worker to run on")
    .option("--config <file>", "JSON file with further members of the run's `config`");
}
