import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openInside } from "#harness/files/path-containment.ts";
import { Repository } from "../harness/support/repository.ts";
import { Probe, probe, python, sh } from "./support/host.ts";

const PRIVATE = "private-words-of-the-host";
let folder: string;
/** A file of the host that the harness can read and commands cannot. */
let secret: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "escape-test-host-"));
  secret = join(folder, "SKILL.md");
  writeFileSync(secret, PRIVATE);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Expects that nothing of the host's private file or its password file has left the sandbox. */
function expectNothingLeft({ plane }: Probe) {
  expect(plane.everything).not.toContain(PRIVATE);
  expect(plane.everything).not.toMatch(/root:[^:]*:\d{5}:/);
}

describe("links among artifacts", () => {
  it("are not followed: to files, to directories, to themselves, and hard links", async () => {
    await using it = await probe([
      [
        'cd "$RUNYARD_OUTPUT"',
        `ln -s /etc/shadow shadow; ln -s ${secret} private; ln -s ${folder} host; ln -s / root; ln -s . loop; ln -s loop/loop again`,
        "ln /etc/passwd hard 2>/dev/null || ln /usr/bin/su hard 2>/dev/null || true",
        "mkfifo pipe; python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('socket')\"",
        "ln -s /proc/1/environ environ; ln -s /proc/self/mem memory; echo real > real",
      ].join("\n"),
    ]);
    expect(it.plane.outcome).toEqual({ success: true, summary: "Ran one command." });
    expect([...it.plane.artifacts.values()].map(String)).toEqual(["real\n"]);
    expectNothingLeft(it);
  });

  it("and odd names do not fail the run: files that cannot be stored are reported", async () => {
    await using it = await probe([
      `cd "$RUNYARD_OUTPUT"; for n in $'a\\nb' $'tab\\t' $'\\x01' $'\\xff\\xfe' -rf ' ' '*' '$(id)' 'a\\b' '..a' '😀' ; do echo x > "./$n"; done; mkdir -p 'd/...'; echo y > 'd/.../f'; echo z > plain`,
      "true",
    ]);
    expect(it.plane.outcome?.success).toBe(true);
    expect(it.plane.artifacts.size).toBeGreaterThanOrEqual(5);
    expect(it.plane.shutdown).toBeUndefined();
  });

  it.each([
    ["a file", "/etc/shadow"],
    ["a directory", "/etc"],
    ["the steps of the harness", "/run/runyard"],
    ["the root", "/"],
  ])("in place of the directory itself are not followed: to %s", async (_, target) => {
    await using it = await probe([`rmdir "$RUNYARD_OUTPUT"; ln -s ${target} "$RUNYARD_OUTPUT"`]);
    expect(it.plane.artifacts.size).toBe(0);
    expectNothingLeft(it);
  });

  it("that are created during collection are not followed", async () => {
    const swap = python(
      "import os",
      "pid = os.fork()",
      "if pid == 0:",
      "    os.setsid()",
      "    while True:",
      "        for i in range(20):",
      "            f = f'/workspace/output/{i}'",
      "            try:",
      `                os.symlink('${secret}', f + '.link'); os.rename(f + '.link', f)`,
      "                open(f + '.real', 'w').write('mine'); os.rename(f + '.real', f)",
      "            except OSError: pass",
      "import time; time.sleep(0.5)",
    );
    await using it = await probe([swap]);
    expect(it.plane.outcome?.success).toBe(true);
    for (const content of it.plane.artifacts.values()) expect(["mine", ""]).toContain(String(content));
    expectNothingLeft(it);
    expect(await it.leftovers()).toEqual([]);
  });
});

describe("a file that the harness opens among those of commands", () => {
  it("is a regular one below the directory, and cannot be replaced", async () => {
    const root = join(folder, "root");
    mkdirSync(join(root, "deep"), { recursive: true });
    writeFileSync(join(root, "deep/a"), "mine");
    symlinkSync(secret, join(root, "link"));
    symlinkSync(folder, join(root, "out"));
    symlinkSync("deep", join(root, "in"));
    execFileSync("python3", ["-c", "import os, sys; os.mkfifo(sys.argv[1])", join(root, "pipe")]);
    for (const name of ["link", "out/SKILL.md", "../SKILL.md", "pipe", "deep", "absent"])
      await expect(openInside(root, join(root, name)), name).rejects.toThrow();
    await using file = await openInside(root, join(root, "in/a"));
    rmSync(join(root, "deep/a"));
    symlinkSync(secret, join(root, "deep/a"));
    expect([readFileSync(file.path, "utf8"), file.sizeBytes]).toEqual(["mine", 4]);
  });
});

describe("the workspace of an earlier execution", () => {
  /** Packs an archive with a Python program that can use `t`, the archive, and `add(name, **fields)`. */
  function archive(...lines: readonly string[]): Buffer {
    const file = join(folder, "hostile.tar.gz");
    const program = [
      "import tarfile, io",
      `t = tarfile.open('${file}', 'w:gz')`,
      "def add(name, data=None, **fields):",
      "    i = tarfile.TarInfo(name); i.mode = 0o777",
      "    for k, v in fields.items(): setattr(i, k, v)",
      "    if data is not None: i.size = len(data)",
      "    t.addfile(i, io.BytesIO(data) if data is not None else None)",
      ...lines,
      "t.close()",
    ];
    execFileSync("python3", ["-c", program.join("\n")]);
    return readFileSync(file);
  }

  /** Executes a run that continues from this archive. */
  async function resumed(packed: Buffer, commands: readonly string[], config: Record<string, unknown> = {}) {
    const it = await Probe.of({ prompt: sh(...commands), context: { agent_config: config } });
    it.plane.attachSnapshot(packed);
    await it.start().ended;
    return it;
  }

  it("is unpacked inside the sandbox: links, absolute names and parent paths write nothing on the host", async () => {
    const packed = archive(
      "S = tarfile.SYMTYPE",
      `add('out', type=S, linkname='${folder}')`,
      "add('out/written-through-a-link', b'x')",
      `add('../../../../../../..${folder}/written-by-dots', b'x')`,
      `add('${folder}/written-by-an-absolute-name', b'x')`,
      "add('output', type=S, linkname='/etc')",
      "add('setuid', b'x', mode=0o6777, uid=0)",
      "add('device', type=tarfile.BLKTYPE, devmajor=8, devminor=0)",
    );
    await using it = await resumed(packed, ["ls"]);
    for (const name of ["written-through-a-link", "written-by-dots", "written-by-an-absolute-name"])
      expect(existsSync(join(folder, name)), name).toBe(false);
    expect(it.plane.artifacts.size).toBe(0);
    expectNothingLeft(it);
  });

  it("provides no skill behind a link out of it", async () => {
    using repository = new Repository("things", { "a.txt": "1" });
    const config = { repositories: [{ url: repository.url }], skill_spec: "things:SKILL.md" };
    const packed = archive(`add('things', type=tarfile.SYMTYPE, linkname='${folder}')`);
    await using it = await resumed(packed, ["true"], config);
    expect(it.plane.outcome).toMatchObject({ success: false, error_code: "environment_setup_failed" });
    expect(it.plane.outcome?.summary).toContain("is no longer in the workspace");
    expectNothingLeft(it);
  });

  it("ends the run with a message if it cannot be unpacked", async () => {
    await using it = await resumed(Buffer.from("no archive"), ["true"]);
    expect(it.plane.outcome).toMatchObject({ success: false, error_code: "environment_setup_failed" });
  });
});

describe("attachments and repositories", () => {
  it("are written to their own directories, whatever their names", async () => {
    await using it = await Probe.of({ prompt: sh("ls -A attachments | sort; cat attachments/passwd") });
    for (const name of ["../../etc/passwd", "..\\..\\x", "/etc/shadow", "...", ".bashrc"])
      it.plane.attach(name, "mine");
    await it.start().ended;
    expect(it.plane.outcome?.success).toBe(true);
    expect(it.plane.outputs[0]).toBe("...\n.bashrc\npasswd\nshadow\nx\nmine");
  });

  it("contain no links that are followed, and no hook that runs", async () => {
    using repository = new Repository(
      "things",
      { ".gitattributes": "* filter=evil\n", ".githooks/post-checkout": "#!/bin/sh\ntouch /tmp/ran\n" },
      { private: secret, ".agents/skills/x/SKILL.md": secret, attachments: folder },
    );
    const config = { repositories: [{ url: repository.url }] };
    await using it = await Probe.of({
      prompt: sh("cat private 2>&1 || true; ls attachments/ 2>&1 || true"),
      context: { agent_config: config },
    });
    await it.start().ended;
    expect(it.plane.outputs[0]).toMatch(/No such file.*\n.*No such file/);
    expectNothingLeft(it);
  });
});
