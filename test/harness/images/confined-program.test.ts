import { execFileSync, spawnSync } from "node:child_process";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { runConfined } from "../../../harness/images/confined-program.ts";

vi.setConfig({ testTimeout: 120_000 });

const USER = 65_534;
const LIMITS = { bytes: 1024 * 1024, files: 100, timeoutMs: 60_000 };
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) {
    // A script has removed its own permissions.
    execFileSync("chmod", ["-R", "u+rwx", folder]);
    rmSync(folder, { recursive: true });
  }
});

function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "runyard-confined-"));
  folders.push(folder);
  return folder;
}

/** Runs the script as a user whom permissions limit. Returns why it failed. */
function runAsUser(script: string): string {
  const directory = createFolder();
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(directory, USER, USER);
  const file = join(import.meta.dirname, "../../../harness/images/confined-program.ts");
  const program = `import { runConfined } from ${JSON.stringify(file)};
    const [directory, script, limits] = JSON.parse(process.argv[1]);
    const command = ["/bin/bash", "-c", script];
    await runConfined({ directory, command }, { ...limits, signal: new AbortController().signal })
      .then(() => console.log("it has ended"), (error) => console.log(error.message));`;
  const own = isRoot ? ["setpriv", `--reuid=${USER}`, `--regid=${USER}`, "--clear-groups"] : [];
  const input = JSON.stringify([directory, script, LIMITS]);
  const [name = "", ...args] = [...own, process.execPath, "--input-type=module", "-e", program, input];
  return spawnSync(name, args, { cwd: "/", encoding: "utf8" }).stdout.trim();
}

describe("a program that handles an image", () => {
  it("fails if it hides files in a directory without permissions, which could not be counted", () => {
    expect(runAsUser("mkdir shown; echo 1 > shown/file")).toBe("it has ended");
    expect(runAsUser("mkdir hidden; echo 1 > hidden/file; chmod 0 hidden")).toMatch(/cannot be read/);
  });

  it("can write nothing in /proc and /dev", async () => {
    const script = "if echo x > /proc/self/comm; then exit 1; fi; if mkdir /dev/x; then exit 1; fi; touch /image/x";
    const program = { directory: createFolder(), command: ["/bin/bash", "-c", script] } as const;
    const { files } = await runConfined(program, { ...LIMITS, signal: new AbortController().signal });
    expect(files).toBe(1);
  });
});
