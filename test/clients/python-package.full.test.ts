import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../../scripts/run-command.ts";
import { api, RUN } from "../cli/responses.ts";
import { FaultServer } from "./fault-server.ts";

const run = promisify(execFile);
const server = new FaultServer();
const folder = mkdtempSync(join(tmpdir(), "runyard-python-"));
const built = join(folder, "built");
const python = process.env["RUNYARD_PYTHON"] ?? "python3";
const PIP = ["-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"];
const PROGRAM = `
from runyard import Runyard
with Runyard() as client:
    print(client.runs.retrieve("r1").title)
`;

beforeAll(async () => {
  await server.start();
  writeFileSync(join(folder, "main.py"), PROGRAM);
  const tools = join(folder, "tools");
  await run(python, ["-m", "venv", tools]);
  const inTools = join(tools, "bin/python");
  const requirements = ["test", "tools"].flatMap((name) => [
    "-r",
    join(root, `clients/python/requirements/${name}.txt`),
  ]);
  await run(inTools, [...PIP, "install", "--require-hashes", "--no-deps", ...requirements]);
  await run(inTools, ["-m", "hatchling", "build", "-d", built], { cwd: join(root, "clients/python") });
}, 400_000);
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

describe("the Python package", () => {
  it.each([".whl", ".tar.gz"])(
    "is installed from its %s into an empty environment, and used there",
    async (ending) => {
      const file = readdirSync(built).find((name) => name.endsWith(ending)) ?? "";
      const user = join(folder, `user${ending}`);
      await run(python, ["-m", "venv", user]);
      const own = join(user, "bin/python");
      await run(own, [...PIP, "install", join(built, file)]);
      server.play([api({ ...RUN, title: "From Python" })]);
      const env = { RUNYARD_API_KEY: "ryp_secret", RUNYARD_BASE_URL: server.api };
      const { stdout } = await run(own, ["main.py"], { cwd: folder, env });
      expect(stdout).toBe("From Python\n");
    },
    400_000,
  );
});
