import { Command } from "@commander-js/extra-typings";
import { repeated } from "../options.ts";

/** A command with the options that say how a run is carried out. */
export function commandWithConfig(name: string) {
  return new Command(name)
    .option("--env <uid|name>", "environment to run in")
    .option("--repo <url>", "repository to clone, `URL#ref` for a branch, tag or commit; repeatable", repeated)
    .option("--skill <spec>", "skill to start from: `owner/repo:name` or `owner/repo:path/to/SKILL.md`")
    .option("--model <id>", "model; `runyard models list` lists them")
    .option("--worker <id>", "self-hosted worker to run on")
    .option("--config <file>", "JSON file with further members of the run's `config`");
}
