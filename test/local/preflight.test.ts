import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { checkTools, type Host, preflight } from "../../server/host/preflight.ts";
import { Problem } from "../../server/host/terminal.ts";

/** A Python that responds to the two checks of its version and of venv. */
const python = (version: string, hasVenv = true): string =>
  `case "$2" in *version_info*) echo ${version} ;; *) exit ${hasVenv ? 0 : 1} ;; esac`;

describe("preflight", () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "preflight-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function put(programs: Record<string, string>): Promise<void> {
    for (const [name, script] of Object.entries(programs)) {
      await writeFile(path.join(folder, name), `#!/bin/sh\n${script}\n`);
      await chmod(path.join(folder, name), 0o755);
    }
  }
  const tools = { git: "", tar: "", bash: "", rg: "", bwrap: "", slirp4netns: "", ip: "" };
  const look = (host: Partial<Host> = {}) => preflight({ platform: "linux", searchPath: folder, ...host });
  const complaint = async (host: Partial<Host> = {}): Promise<Problem> => {
    const error = await look(host).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (error instanceof Problem) return error;
    throw new Error("nothing was wrong");
  };

  test("succeeds on a host that has everything", async () => {
    await put({ ...tools, python3: python("3.11.7") });
    expect(await look()).toEqual({ python: path.join(folder, "python3"), pythonVersion: "3.11.7", warnings: [] });
  });

  test("checkTools needs no Python, and names what is limited without an optional tool", async () => {
    await put({ git: "", tar: "", bash: "", slirp4netns: "", ip: "" });
    expect(await checkTools({ platform: "linux", searchPath: folder })).toEqual([
      "rg is missing: agents search files more slowly",
      "bwrap is missing: agents' commands run without isolation",
      "Install with:  sudo apt-get install ripgrep bubblewrap",
    ]);
  });

  test("checkTools rejects a host without a required tool, with the line that installs it", async () => {
    await put({ tar: "", bash: "" });
    await expect(checkTools({ platform: "linux", searchPath: folder })).rejects.toMatchObject({
      message: "git is missing.",
      details: ["Install with:  sudo apt-get install git"],
    });
    await expect(checkTools({ platform: "win32", searchPath: folder })).rejects.toThrow("Native Windows");
  });

  test("rejects native Windows in one sentence", async () => {
    const { message, details } = await complaint({ platform: "win32" });
    expect(message).toBe("Native Windows is not supported: run this inside WSL2.");
    expect(details).toEqual([]);
  });

  test("names everything that is missing at once, with the line that installs it", async () => {
    await put({ rg: "", bwrap: "", slirp4netns: "", ip: "" });
    const { message, details } = await complaint();
    expect(message).toBe("git is missing; tar is missing; bash is missing; python3 is missing.");
    expect(details).toEqual(["Install with:  sudo apt-get install git tar bash python3 python3-venv"]);
  });

  test("names Homebrew's packages on macOS, and requires no bubblewrap there", async () => {
    await put({ tar: "", bash: "", python3: python("3.13.0") });
    const { details } = await complaint({ platform: "darwin" });
    expect(details).toEqual(["Install with:  brew install git"]);
    await put({ git: "" });
    const { warnings } = await look({ platform: "darwin" });
    expect(warnings).toEqual(["rg is missing: agents search files more slowly", "Install with:  brew install ripgrep"]);
  });

  test("warns about missing optional tools, and continues", async () => {
    await put({ git: "", tar: "", bash: "", python3: python("3.10.0") });
    const { warnings } = await look();
    expect(warnings.map((warning) => warning.split(" ")[0])).toEqual(["rg", "bwrap", "slirp4netns", "ip", "Install"]);
    expect(warnings.at(-1)).toBe("Install with:  sudo apt-get install ripgrep bubblewrap slirp4netns iproute2");
  });

  test("uses a later Python by its own name if python3 is too old", async () => {
    await put({ ...tools, python3: python("3.9.2"), "python3.12": python("3.12.1") });
    expect(await look()).toMatchObject({ pythonVersion: "3.12.1" });
  });

  test("names the Python that is too old if there is no other", async () => {
    await put({ ...tools, python3: python("3.9.2") });
    expect((await complaint()).message).toBe(`${folder}/python3 is Python 3.9.2, and 3.10 or later is needed.`);
  });

  test("names the venv package if Python lacks it", async () => {
    await put({ ...tools, python3: python("3.11.2", false) });
    const { message, details } = await complaint();
    expect(message).toContain("its venv package is missing");
    expect(details).toEqual(["Install with:  sudo apt-get install python3 python3-venv"]);
  });

  test("checks only the Python that RUNYARD_PYTHON names", async () => {
    await put({ ...tools, python3: python("3.11.7"), mine: python("3.12.0") });
    expect(await look({ python: path.join(folder, "mine") })).toMatchObject({ pythonVersion: "3.12.0" });
    expect((await complaint({ python: "/nowhere/python" })).message).toBe(
      "RUNYARD_PYTHON names /nowhere/python, which is not there.",
    );
  });
});
