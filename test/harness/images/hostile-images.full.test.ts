import { existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { openImage } from "../../../harness/images/open-image.ts";
import { type LayerFile, type Registry, startRegistry } from "../../support/image-registry.ts";

vi.setConfig({ testTimeout: 300_000 });

const LIMITS = { bytes: 50 * 1024 * 1024, files: 3_000 };
const TREE: LayerFile[] = [{ name: "etc/" }, { name: "bin/" }, { name: "bin/sh", content: "#!\n", mode: 0o755 }];

describe("an image that is made to break out", () => {
  let registry: Registry;
  let directory: string;
  let outside: string;

  beforeAll(async () => {
    registry = await startRegistry();
  });
  afterAll(async () => registry[Symbol.asyncDispose]());
  beforeEach(() => {
    const folder = mkdtempSync(join(tmpdir(), "runyard-hostile-"));
    directory = join(folder, "images");
    outside = join(folder, "outside");
    writeFileSync(outside, "untouched\n");
  });
  afterEach(() => rmSync(dirname(directory), { recursive: true }));

  const open = (runId: string) =>
    openImage(`${registry.host}/evil/image:1`, {
      settings: {
        directory,
        registries: [{ host: registry.host, private: true, insecure: true }],
        checkMs: 0,
        limits: LIMITS,
      },
      runId,
      timeoutMs: 240_000,
      signal: new AbortController().signal,
    });
  /** Unpacks the image or refuses it; either way nothing outside has changed. */
  const openSafely = async (layers: readonly (readonly LayerFile[])[]) => {
    registry.put("evil/image:1", { layers });
    const opened = await open("r").catch((error: unknown) => String(error));
    expect(readFileSync(outside, "utf8")).toBe("untouched\n");
    expect(readdirSync(join(directory, "..")).toSorted()).toEqual(["images", "outside"]);
    expect(existsSync("/tmp/runyard-escaped")).toBe(false);
    expect(readdirSync(directory).filter((name) => name.startsWith("new-"))).toEqual([]);
    return opened;
  };
  const rootOf = (opened: Awaited<ReturnType<typeof openSafely>>): string => {
    if (typeof opened === "string") throw new Error(opened);
    return opened.root;
  };

  it("writes nothing outside by names with `..` and absolute names", async () => {
    const names = ["../../../../../../tmp/runyard-escaped", "/tmp/runyard-escaped", "etc/../../../../outside"];
    for (const name of names) await openSafely([[...TREE, { name, content: "escaped" }]]);
  });

  it("writes nothing through links that lead out, in one layer or the next", async () => {
    for (const target of ["/tmp", "../../../../../../../../tmp", "../../../../outside"]) {
      const link: LayerFile = { name: "out", kind: "link", target };
      const through: LayerFile[] = [
        { name: "out/runyard-escaped", content: "escaped" },
        { name: "out", content: "escaped" },
      ];
      for (const file of through) {
        await openSafely([[...TREE, link, file]]);
        await openSafely([[...TREE, link], [file]]);
      }
    }
  });

  it("gets no file of the machine by hard links", async () => {
    for (const target of ["/etc/passwd", "../../../../../../../../etc/passwd"]) {
      const opened = await openSafely([[...TREE, { name: "copy", kind: "hard link", target }]]);
      const copy = typeof opened === "string" ? undefined : join(opened.root, "copy");
      expect(copy !== undefined && existsSync(copy) && lstatSync(copy).size > 0).toBe(false);
    }
  });

  it("removes nothing outside by whiteouts", async () => {
    for (const name of [".wh.outside", "../.wh.outside", "out/.wh.runyard-kept", "../../../.wh..wh..opq"])
      await openSafely([[...TREE, { name: "out", kind: "link", target: "/tmp" }], [{ name }]]);
  });

  it("has no devices", async () => {
    const opened = await openSafely([
      [
        ...TREE,
        { name: "disk", kind: "block device", mode: 0o666 },
        { name: "memory", kind: "character device", mode: 0o666 },
      ],
    ]);
    for (const name of typeof opened === "string" ? [] : ["disk", "memory"]) {
      const stats = lstatSync(join(rootOf(opened), name), { throwIfNoEntry: false });
      expect(stats?.isBlockDevice() === true || stats?.isCharacterDevice() === true).toBe(false);
    }
  });

  it("can be used although its directories hide their files", async () => {
    const hidden: LayerFile[] = [
      { name: "a/", mode: 0 },
      { name: "a/b/", mode: 0o100 },
      { name: "a/b/file", content: "hidden", mode: 0 },
    ];
    const root = rootOf(await openSafely([[...TREE, ...hidden]]));
    const modes = ["a", "a/b", "a/b/file"].map((name) => (lstatSync(join(root, name)).mode & 0o777).toString(8));
    expect(modes).toEqual(["700", "700", "600"]);
  });

  it("decides by none of its links where files and directories of the sandbox are mounted", async () => {
    const links = ["etc/passwd", "etc/resolv.conf", "etc/hosts", "tmp", "proc", "dev", "run", "home", "workspace"];
    const layer = [...TREE, ...links.map((name): LayerFile => ({ name, kind: "link", target: "/oldroot/etc/passwd" }))];
    const root = rootOf(await openSafely([layer]));
    expect(links.map((name) => [name, lstatSync(join(root, name)).isSymbolicLink()])).toEqual(
      links.map((name) => [name, false]),
    );
    const etc = rootOf(
      await openSafely([
        [
          { name: "etc", kind: "link", target: "/etc" },
          { name: "x", content: "1" },
        ],
      ]),
    );
    expect(readdirSync(join(etc, "etc")).toSorted()).toEqual([
      "group",
      "hosts",
      "nsswitch.conf",
      "passwd",
      "resolv.conf",
    ]);
  });

  it("is refused above the limits of files and bytes, and leaves nothing", async () => {
    const many = Array.from({ length: 100_000 }, (_, index): LayerFile => ({ name: `many/${index}` }));
    expect(await openSafely([[...TREE, { name: "many/" }, ...many]])).toMatch(/more than 3000 files, the limit/);
    const bomb = [{ name: "bomb", content: Buffer.alloc(200 * 1024 * 1024, 1) }];
    expect(await openSafely([[...TREE, ...bomb]])).toMatch(/more than 50 MiB|file too large/);
    const parts = Array.from({ length: 20 }, (_, index) => ({
      name: `part-${index}`,
      content: Buffer.alloc(10 * 1024 * 1024, 1),
    }));
    expect(await openSafely([[...TREE, ...parts]])).toMatch(/more than 50 MiB|file too large/);
    expect(readdirSync(directory).filter((name) => /^sha256-\w+$/.test(name))).toEqual([]);
  });

  it("is refused if it is made for another platform, or is no image", async () => {
    registry.put("evil/image:1", { layers: [TREE], architecture: "s390x" });
    await expect(open("a")).rejects.toThrow(/it is made for linux\/s390x/);
    registry.respond((_, response) => void response.end("{}"));
    await expect(open("b")).rejects.toThrow(/could not be used/);
    registry.respond(undefined);
  });
});
