import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { parseOptions } from "#server/command/options.ts";
import { applySettings } from "#server/command/settings-file.ts";
import { VERSION } from "#server/command/version.ts";
import { MIGRATIONS } from "#server/database/migrations.ts";
import { runHere } from "../support/command-line.ts";
import { useDataDirectory } from "../support/data-directory.ts";

const { directory } = useDataDirectory();
let made = "";
const folder = () => made;
beforeEach(() => {
  made = directory();
  // Settings are added to the environment, which the end of the stubs restores.
  for (const name of ["RUNYARD_DATA", "RUNYARD_GITHUB_TOKEN"]) vi.stubEnv(name, undefined);
});
afterEach(() => void vi.unstubAllEnvs());

const RELEASE = path.join(import.meta.dirname, "../releases/2026-11-28.tar.gz");

function readVersion(data: string): unknown {
  const database = new DatabaseSync(path.join(data, "runyard.db"));
  try {
    return database.prepare("PRAGMA user_version").get()?.["user_version"];
  } finally {
    database.close();
  }
}

describe("upgrade", () => {
  /** The data of an earlier release. */
  function unpack(): string {
    const data = path.join(folder(), "data");
    execFileSync("mkdir", ["-p", data]);
    execFileSync("tar", ["-xzf", RELEASE, "-C", data]);
    return data;
  }

  it("backs the data of an earlier release up, and changes the schema of its database", async () => {
    const data = unpack();
    const backup = path.join(folder(), "before.tar.gz");
    const { code, output, errors } = await runHere(["upgrade", "--data", data, "--backup", backup]);
    expect([code, errors]).toEqual([0, ""]);
    expect(output).toMatch(/^Backup: .*before\.tar\.gz, with \d+ files\.\n.* is ready for runyard-server /);
    expect(output).toContain(`runyard-server ${VERSION}. Start it with: runyard-server serve\n`);
    expect(readVersion(data)).toBe(MIGRATIONS.length);
    const restored = path.join(folder(), "restored");
    expect((await runHere(["restore", backup, "--data", restored])).code).toBe(0);
    expect(existsSync(path.join(restored, "runyard.key"))).toBe(true);
  });

  it("names the backup itself, next to the data", async () => {
    const data = unpack();
    expect((await runHere(["upgrade", "--data", data])).code).toBe(0);
    const [backup = ""] = readdirSync(path.join(folder(), "backups"));
    expect(backup).toMatch(new RegExp(`^before-${RegExp.escape(VERSION)}-[\\dT-]+\\.tar\\.gz$`));
  });

  it("refuses the data of a newer release, and leaves them as they are", async () => {
    const data = unpack();
    const database = new DatabaseSync(path.join(data, "runyard.db"));
    database.exec("PRAGMA user_version = 999");
    database.close();
    const backup = path.join(folder(), "before.tar.gz");
    const { code, errors } = await runHere(["upgrade", "--data", data, "--backup", backup]);
    expect(code).toBe(1);
    expect(errors).toContain("was written by a newer release of Runyard");
    expect(errors).toContain("The data were not changed.");
    expect([readVersion(data), existsSync(backup)]).toEqual([999, true]);
  });

  it("is refused without data", async () => {
    const { code, errors } = await runHere(["upgrade", "--data", path.join(folder(), "none")]);
    expect([code, errors]).toEqual([1, expect.stringContaining("has no data to upgrade")]);
  });
});

describe("--settings", () => {
  const write = (text: string, mode = 0o600): string => {
    const file = path.join(folder(), "settings.env");
    writeFileSync(file, text);
    chmodSync(file, mode);
    return file;
  };

  it("adds the variables of a file that are not set yet, and leaves the other arguments", () => {
    const file = write('# a comment\nRUNYARD_URL="https://runyard.example.com"\nRUNYARD_PORT=4600\nRUNYARD_HOST=::1\n');
    const environment: NodeJS.ProcessEnv = { RUNYARD_HOST: "127.0.0.2" };
    expect(applySettings(["serve", "--settings", file, "--detach"], environment)).toEqual(["serve", "--detach"]);
    expect(parseOptions(["--detach"], true, environment)).toMatchObject({
      url: "https://runyard.example.com",
      port: 4600,
      host: "127.0.0.2",
    });
    expect(parseOptions(["--port", "4700"], true, environment)).toMatchObject({ port: 4700 });
    const named: NodeJS.ProcessEnv = { RUNYARD_SETTINGS: file };
    expect(applySettings([`--settings=${file}`, "status"], { ...named })).toEqual(["status"]);
    expect(applySettings(["status"], named)).toEqual(["status"]);
    expect(named["RUNYARD_PORT"]).toBe("4600");
  });

  it("is read by each command", async () => {
    const file = write(`RUNYARD_DATA=${path.join(folder(), "elsewhere")}\n`);
    const { errors } = await runHere(["upgrade", "--settings", file]);
    expect(errors).toContain("elsewhere has no data to upgrade");
  });

  it("is refused for a missing file and for names that are no settings", async () => {
    expect((await runHere(["status", "--settings", "/nowhere/settings.env"])).errors).toContain("cannot be read");
    expect(await runHere(["status", "--settings"])).toMatchObject({ code: 2 });
    const { code, errors } = await runHere(["status", "--settings", write("PATH=/tmp\n")]);
    expect([code, errors]).toEqual([1, expect.stringContaining("has unknown settings: PATH.")]);
  });

  it("warns where others can read the keys in it", async () => {
    const { errors, output } = await runHere(["status", "--settings", write("RUNYARD_GITHUB_TOKEN=x\n", 0o644)]);
    expect(`${output}${errors}`).toContain("Others can read the keys");
  });
});
