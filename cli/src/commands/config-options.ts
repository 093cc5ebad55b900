import { Command } from "@commander-js/extra-typings";
import { repeated } from "../options.ts";

/** A command with the options that say how a run is carried out. */
export function commandWithConfig(name: string) {
  return new Command(name)
    .option("--env <uid|name>", "the environment to run in")
    .option("--repo <url>", "a repository to clone, `URL#ref` for a branch, tag or commit; repeatable", repeated)
    .option("--skill <spec>", "the skill to start from: `owner/repo:name` or `owner/repo:path/to/SKILL.md`")
    .option("--model <id>", "the model; `runyard models list` shows them")
    .option("--worker <id>", "the self-hosted worker to run on")
    .option("--config <file>", "a JSON file with anything else that a run's `config` takes");
}
