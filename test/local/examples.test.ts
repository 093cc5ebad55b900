import { readFile } from "node:fs/promises";
import path from "node:path";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { runCommand } from "../../server/host/commands.ts";
import { RunAgentRequest } from "../../shared/wire/runs/new-run.ts";

const examples = path.resolve(import.meta.dirname, "../../examples");

describe("examples/", () => {
  test("hello.json is a request that the API accepts, with commands to run", async () => {
    const request = v.parse(RunAgentRequest, JSON.parse(await readFile(path.join(examples, "hello.json"), "utf8")));
    expect(request.prompt).toMatch(/^```bash\n/m);
  });

  test("the sample repository's own test passes", async () => {
    const done = await runCommand("sh", ["test/words-test.sh"], { cwd: path.join(examples, "sample-repository") });
    expect(done).toEqual({ code: 0, output: "ok\n" });
  });
});
