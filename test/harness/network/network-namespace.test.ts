import fs, { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { openNetwork } from "#harness/isolation/network.ts";
import { findProgram } from "#harness/isolation/programs.ts";
import { commandLines, listNamespaceDescriptors } from "../support/processes.ts";

const folder = mkdtempSync(join(tmpdir(), "network-"));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  syncBuiltinESMExports();
});

/** PATH has this script in place of a program of the machine. */
function replace(name: string, script: string): void {
  const bin = mkdtempSync(join(folder, "bin-"));
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  vi.stubEnv("PATH", `${bin}:${process.env["PATH"] ?? ""}`);
}

/** The ids of the processes in a network namespace, as `/proc/<id>/ns/net` names it. */
function listMembers(namespace: string): string[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.filter((pid) => {
    try {
      return readlinkSync(`/proc/${pid}/ns/net`) === namespace;
    } catch {
      return false;
    }
  });
}

describe("openNetwork", () => {
  it("leaves no process and no descriptor of its namespace when it is closed", async () => {
    const network = await openNetwork();
    expect(await network?.opened).toBe(true);
    const [, path = ""] = network?.enter.find((argument) => argument.startsWith("--net="))?.split("=") ?? [];
    const namespace = readlinkSync(path);
    const [holder] = listMembers(namespace);
    const findConnection = () => commandLines().filter((line) => line.includes(`/proc/${holder}/ns/user`));
    expect(listNamespaceDescriptors()).toEqual(expect.arrayContaining([namespace, expect.stringMatching(/^user:/)]));
    const [connection = ""] = findConnection();
    expect(connection.split("\0")).toEqual(expect.arrayContaining(["--disable-host-loopback", "--enable-sandbox"]));
    await network?.close();
    expect([listMembers(namespace), findConnection(), listNamespaceDescriptors()]).toEqual([[], [], []]);
  });

  it("is not opened if the program that connects it ends", async () => {
    replace("slirp4netns", "exit 1");
    const network = await openNetwork();
    expect(await network?.opened).toBe(false);
    await network?.close();
    expect(listNamespaceDescriptors()).toEqual([]);
  });

  it("returns undefined if the kernel forbids namespaces", async () => {
    replace("unshare", "exit 1");
    expect(await openNetwork()).toBeUndefined();
    expect(listNamespaceDescriptors()).toEqual([]);
  });

  it("leaves nothing if one of its namespaces cannot be kept open", async () => {
    const { openSync } = fs;
    const holders: string[] = [];
    vi.spyOn(fs, "openSync").mockImplementation((path, ...options) => {
      const [, holder] = /^\/proc\/(\d+)\/ns\/net$/.exec(String(path)) ?? [];
      if (holder === undefined) return openSync(path, ...options);
      holders.push(holder);
      throw new Error("EMFILE");
    });
    syncBuiltinESMExports();
    expect(await openNetwork()).toBeUndefined();
    expect(holders.map((holder) => existsSync(`/proc/${holder}`))).toEqual([false]);
    expect(listNamespaceDescriptors()).toEqual([]);
  });

  it.each(["unshare", "nsenter", "slirp4netns"])("returns undefined without %s", async (missing) => {
    const bin = mkdtempSync(join(folder, "bin-"));
    for (const name of ["unshare", "nsenter", "slirp4netns"]) {
      if (name !== missing) symlinkSync(findProgram(name) ?? "", join(bin, name));
    }
    vi.stubEnv("PATH", bin);
    expect(await openNetwork()).toBeUndefined();
    expect(listNamespaceDescriptors()).toEqual([]);
  });
});
