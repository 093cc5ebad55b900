import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, lstatSync, readdirSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { createRun, useServers, waitForState } from "../support/served.ts";

const servers = useServers();
const NOBODY = "65534";

describe("another user of the machine", () => {
  it("cannot read the data directory or the server's environment", async () => {
    const parent = servers.directory();
    chmodSync(parent, 0o755);
    const directory = path.join(parent, "data");
    const server = await servers.start(directory, { environment: { RUNYARD_ANTHROPIC_API_KEY: "sk-secret" } });
    await waitForState(server, await createRun(server, 'echo x > "$RUNYARD_OUTPUT/file"'), "SUCCEEDED");

    expect(lstatSync(directory).mode & 0o077).toBe(0);
    const files = readdirSync(directory, { recursive: true }).map(String);
    expect(files).toEqual(expect.arrayContaining(["runyard.db", "runyard.key", "local.json", "server.json"]));
    // What executions write is below a directory that is closed itself.
    const secret = files.filter((file) => !/^(cache|scratch\/)/.test(file));
    // A file may be gone by now.
    const modeOf = (file: string) => lstatSync(path.join(directory, file), { throwIfNoEntry: false })?.mode ?? 0;
    const open = secret.filter((file) => (modeOf(file) & 0o077) !== 0);
    // This database is empty: it is only locked.
    expect(open.filter((file) => !file.startsWith("runyard.db.lock"))).toEqual([]);

    if (process.getuid?.() !== 0) return;
    const asNobody = (...command: string[]) =>
      spawnSync("setpriv", ["--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", ...command], { encoding: "utf8" });
    expect(asNobody("ls", parent)).toMatchObject({ status: 0, stdout: expect.stringContaining("data") });
    for (const file of ["", "local.json", "runyard.key", "runyard.db"]) {
      const denied = asNobody(file === "" ? "ls" : "cat", path.join(directory, file));
      expect(denied).toMatchObject({ stdout: "", stderr: expect.stringContaining("Permission denied") });
    }
    const environment = `/proc/${server.state.pid}/environ`;
    expect(execFileSync("cat", [environment], { encoding: "utf8" })).toContain("sk-secret");
    expect(asNobody("cat", environment)).toMatchObject({ stdout: "", stderr: expect.stringContaining("denied") });
  });
});
