import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { repository, synthesize } from "./synthesize.ts";

const read = (file: string) => readFileSync(join(repository, file), "utf8");
const guide = read("docs/aws.md");
const settingsCode = read("infra/read-settings.ts");
/** Settings that the guide names: in its table, in commands, and in sentences. */
const named = [...new Set([...guide.matchAll(/(?:-c |`|, `)([a-z]\w+)=/g)].map(([, name = ""]) => name))];

/** Each setting of a command or of the table, with the guide's value, or one that is possible where the guide shows a placeholder. */
const POSSIBLE: Readonly<Record<string, string>> = {
  baseUrl: "https://agents.example.com/api/v1",
  webUrl: "https://agents.example.com",
  certificateArn: "arn:aws:acm:us-east-1:111122223333:certificate/12345678-1234-1234-1234-123456789012",
  existingBucket: "kept-bucket",
  accountConcurrency: "2000",
};
const commands = [...guide.matchAll(/^npx cdk deploy --all (.+)$/gm)].map(([, options = ""]) =>
  Object.fromEntries(
    [...options.matchAll(/-c (\w+)=(<[^>]+>|\S+)/g)].map(([, name = "", value = ""]) => [
      name,
      POSSIBLE[name] ?? value,
    ]),
  ),
);

describe("the installation guide", () => {
  it("names settings that exist", () => {
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !settingsCode.includes(`"${name}"`))).toEqual([]);
  });

  it.each(commands.map((context) => [JSON.stringify(context), context] as const))(
    "deploys with settings that can be synthesized: %s",
    (_, context) => {
      expect(Object.keys(context)).not.toEqual([]);
      expect(synthesize(context).stacks.length).toBeGreaterThan(3);
    },
  );

  it("removes CloudFront in two deployments, of which the first keeps every export", () => {
    const { baseUrl = "", webUrl = "" } = POSSIBLE;
    const exportsOf = (context: Record<string, string>) =>
      synthesize(context).stacks.flatMap(({ name, outputs }) =>
        outputs.filter((output) => output.startsWith("Exports")).map((output) => `${name} ${output}`),
      );
    const [usual, first] = [exportsOf({}), exportsOf({ baseUrl, webUrl })];
    expect(first).toEqual(expect.arrayContaining(usual));
    const second = synthesize({ baseUrl, webUrl, frontDoor: "false" });
    // After the first deployment, no other stack imports the addresses of CloudFront.
    const imported = JSON.stringify(
      synthesize({ baseUrl, webUrl }).templates.filter(({ name }) => name !== "Runyard-Api"),
    );
    const kept = second.stacks.flatMap(({ name, outputs }) => outputs.map((output) => `${name} ${output}`));
    for (const missing of first.filter((name) => !kept.includes(name))) {
      expect(imported).not.toContain(missing.split(" ").join(":"));
    }
  });
});
