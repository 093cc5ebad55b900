import { spawnSync } from "node:child_process";
import { join } from "node:path";
import * as v from "valibot";
import { beforeAll, describe, expect, it } from "vitest";
import { ALLOWED_WAYS, WAYS } from "../egress/ways.ts";

const Receipts = v.array(v.object({ to: v.string(), text: v.string() }));
const Result = v.object({
  name: v.string(),
  output: v.string(),
  limited: Receipts,
  outputWithout: v.string(),
  open: Receipts,
});

const results = new Map<string, v.InferOutput<typeof Result>>();
beforeAll(() => {
  const program = join(import.meta.dirname, "../egress/try-ways.ts");
  // In a network of its own, whose hosts are those of the table.
  const args = ["--user", "--map-root-user", "--net", process.execPath, program];
  const { stdout, stderr } = spawnSync("unshare", args, { encoding: "utf8" });
  for (const line of stdout.trim().split("\n")) {
    const result = v.parse(v.pipe(v.string(), v.parseJson(), Result), line, { message: stderr });
    results.set(result.name, result);
  }
}, 900_000);

describe("a network with an allowlist", () => {
  it.each(WAYS.map(({ name }) => name))("lets nothing through by %s, which arrives without the list", (name) => {
    const { limited, open, output, outputWithout } = results.get(name) ?? {};
    expect(limited, output).toEqual([]);
    expect(open, outputWithout).not.toEqual([]);
  });

  it.each(ALLOWED_WAYS.map(({ name }) => name))("lets calls of its domains through by %s", (name) => {
    const { limited, open, output } = results.get(`allowed: ${name}`) ?? {};
    expect(limited, output).toEqual([]);
    expect(open?.map(({ text }) => text).join(""), output).toMatch(/(allowed|wild)\.example/i);
  });
});
