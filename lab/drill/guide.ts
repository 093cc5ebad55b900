import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/run-command.ts";

/** What the guide shows in place of values that differ for each deployment. */
export interface GuideValues {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly restoreTime: string;
  readonly bucket: string;
}

/** The commands below a heading of docs/aws.md, in order, each on one line and without its comment. */
export function readGuide(heading: string, page = readFileSync(join(root, "docs/aws.md"), "utf8")): string[] {
  const [, section] = page.split(`\n## ${heading}\n`);
  if (section === undefined) throw new Error(`docs/aws.md has no heading "${heading}"`);
  const [own = ""] = section.split("\n## ");
  return [...own.matchAll(/^```sh[^\n]*\n(.*?)^```$/gms)].flatMap(([, block = ""]) =>
    block
      .replaceAll(/\\\n\s*/g, "")
      .split("\n")
      .map((line) => line.replace(/\s+#.*$/, "").trim())
      .filter((line) => line !== ""),
  );
}

/** Replaces the guide's placeholders. */
export const fillIn = (command: string, values: GuideValues): string =>
  command
    .replaceAll("https://…/api/v1", values.baseUrl)
    .replaceAll("ryp_…", values.apiKey)
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, values.restoreTime)
    .replaceAll("<name of the kept bucket>", values.bucket);

/** Commands of the guide that the drill does not run, with the reason. */
export const NOT_RUN: readonly (readonly [RegExp, string])[] = [
  [/^npm ci$/, "the releases share the packages of the checkout, or install their own"],
  [/^git pull && npm ci && /, "the drill checks out both releases; the commands after these are run"],
  [/--model /, "the emulator has no models"],
  [/^aws ssm put-parameter /, "the emulator has no models"],
  [/-c anthropicKeyParameter=/, "the emulator has no models"],
  [/^npm run aws -- doctor/, "the emulator has no models"],
  [/^aws s3api list-object-versions .* while read /, "nothing deletes files of the drill before the restore"],
  [/^aws acm |-c domainName=/, "the drill deploys without CloudFront, and needs no domain name"],
];

/** The part of a command that the drill runs; undefined if it runs none of it. */
export function toRunnable(command: string): string | undefined {
  const upgrade = /^git pull && npm ci && (.+)$/.exec(command);
  if (upgrade?.[1] !== undefined) return upgrade[1];
  return NOT_RUN.some(([pattern]) => pattern.test(command)) ? undefined : command;
}
