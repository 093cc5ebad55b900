import { spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  promises,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Refused } from "#harness/control-plane/control-plane.ts";
import { createRedactor } from "#harness/redaction/redactor.ts";
import { type ArtifactLimits, createArtifactCollector, guessMimeType } from "#harness/reporting/artifact-collector.ts";
import { createRetryReporter } from "#harness/reporting/retry-reporter.ts";
import type { ReportArtifactRequest } from "#shared/wire/executions/report-artifact.ts";

const SECRET = "planted-value-0001";
let workspace: string;
let output: string;
beforeEach(() => {
  workspace = mkdtempSync(join(tmpdir(), "artifacts-"));
  output = join(workspace, "output");
  mkdirSync(join(output, "a/b"), { recursive: true });
});
afterEach(() => rmSync(workspace, { recursive: true }));

const write = (path: string, content: string) => writeFileSync(join(output, path), content);

/** A collector whose control plane already has every file. */
function createCollector(limits?: ArtifactLimits, refuse: (path: string) => Error | undefined = () => undefined) {
  const reported: ReportArtifactRequest[] = [];
  const stop = new AbortController();
  const plane = {
    async reportArtifact(artifact: ReportArtifactRequest) {
      const error = refuse("filepath" in artifact.data ? String(artifact.data.filepath) : "");
      if (error !== undefined) throw error;
      reported.push(artifact);
      return { artifact_uid: "art-1" };
    },
  };
  const options = { plane, redactor: createRedactor([SECRET]), output, signal: stop.signal };
  const collector = createArtifactCollector(limits === undefined ? options : { ...options, limits });
  return { collector, reported, stop };
}

describe("createArtifactCollector", () => {
  it("reports each regular file of the directory with its hash, in the order of the paths", async () => {
    write("z.txt", "z");
    write("a/b/c.JSON", "{}");
    symlinkSync("/etc/passwd", join(output, "link"));
    const { collector, reported } = createCollector();
    let prepared = 0;
    const report = await collector.collect(async () => void prepared++);
    expect([report, prepared]).toEqual([{ stored: ["a/b/c.JSON", "z.txt"], left: [] }, 1]);
    expect(reported).toEqual([
      {
        artifact_type: "FILE",
        data: {
          filepath: "a/b/c.JSON",
          filename: "c.JSON",
          mime_type: "application/json",
          size_bytes: 2,
          sha256: "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
        },
      },
      {
        artifact_type: "FILE",
        data: {
          filepath: "z.txt",
          filename: "z.txt",
          mime_type: "text/plain",
          size_bytes: 1,
          sha256: "594e519ae499312b29433b7dd8a97ff068defcba9755b6d5d00e84c524d67b06",
        },
      },
    ]);
    expect([...collector.stored().keys()]).toEqual(["a/b/c.JSON", "z.txt"]);
  });

  it("reports a file again only if it has changed, also since an earlier execution", async () => {
    write("a.txt", "one");
    const first = createCollector();
    await first.collector.collect();
    expect(await first.collector.collect()).toEqual({ stored: [], left: [] });
    const later = createCollector();
    later.collector.adopt(first.collector.stored());
    expect(await later.collector.collect()).toEqual({ stored: [], left: [] });
    write("a.txt", "two");
    expect(await later.collector.collect()).toEqual({ stored: ["a.txt"], left: [] });
    expect([first.reported.length, later.reported.length]).toEqual([1, 1]);
  });

  it("skips files that exceed its limits, and reports why", async () => {
    for (const name of ["a.txt", "b.txt", "c.txt"]) write(name, "12345");
    write("large.txt", "123456");
    const { collector } = createCollector({ files: 2, bytesEach: 5 });
    expect(await collector.collect()).toEqual({
      stored: ["a.txt", "b.txt"],
      left: ["c.txt: over 2 files", "large.txt: over 2 files"],
    });
    write("a.txt", "again");
    expect((await collector.collect()).stored, "a known one").toEqual(["a.txt"]);
    const other = createCollector({ bytesEach: 5 });
    expect((await other.collector.collect()).left).toEqual(["large.txt: larger than 5 bytes"]);
  });

  it("stores 100 files of 100 MiB at most, unless it has other limits", async () => {
    write("a/large.bin", "");
    for (let count = 0; count <= 100; count++) write(`${String(count).padStart(3, "0")}.txt`, "x");
    truncateSync(join(output, "a/large.bin"), 100 * 1024 * 1024 + 1);
    const { stored, left } = await createCollector().collector.collect();
    expect([stored.length, left]).toEqual([100, ["100.txt: over 100 files", "a/large.bin: over 100 files"]]);
    const roomy = createCollector({ files: 200 });
    expect((await roomy.collector.collect()).left).toEqual(["a/large.bin: larger than 104857600 bytes"]);
  });

  it("skips files whose names cannot be stored", async () => {
    write("bad-\ufffd", "x");
    const folder = [..."12345"].map((digit) => digit.repeat(200)).join("/");
    mkdirSync(join(output, folder), { recursive: true });
    write(`${folder}/${"x".repeat(1_024 - folder.length - 1)}`, "fits");
    write(`${folder}/${"y".repeat(1_024 - folder.length)}`, "too long");
    const { stored, left } = await createCollector().collector.collect();
    expect(stored.map((path) => path.length)).toEqual([1_024]);
    expect(left).toEqual([
      `${folder}/${"y".repeat(1_024 - folder.length)}: its name cannot be stored`,
      "bad-\ufffd: its name cannot be stored",
    ]);
  });

  it("redacts paths, continues after a refusal, and fails with any other error", async () => {
    write(`a-${SECRET}.txt`, "x");
    write("b.txt", "x");
    const refused = new Refused("said", "the run has too many artifacts");
    const refusing = createCollector(undefined, (path) => (path === "b.txt" ? refused : undefined));
    expect(await refusing.collector.collect()).toEqual({
      stored: [`a-${SECRET}.txt`],
      left: ["b.txt: the run has too many artifacts"],
    });
    expect(JSON.stringify(refusing.reported)).not.toContain(SECRET);
    expect(refusing.reported).toMatchObject([{ data: { filepath: "a-***.txt", filename: "a-***.txt" } }]);
    const failing = createCollector(undefined, () => new Error("no connection"));
    await expect(failing.collector.collect()).rejects.toThrow("no connection");
    const stopped = createCollector();
    stopped.stop.abort(new Error("the execution is over"));
    await expect(stopped.collector.collect()).rejects.toThrow("the execution is over");
    expect(stopped.reported).toEqual([]);
  });

  it("omits a file that is removed or replaced after it was listed", async () => {
    for (const name of ["a.txt", "b.txt", "c.txt"]) write(name, name);
    const { collector, reported } = createCollector();
    const report = await collector.collect(async () => {
      rmSync(join(output, "a.txt"));
      rmSync(join(output, "b.txt"));
      symlinkSync(join(output, "c.txt"), join(output, "b.txt"));
    });
    expect(report).toEqual({ stored: ["c.txt"], left: [] });
    expect(reported).toHaveLength(1);
  });

  it("names what is below too many directories to be read, and stores the rest", async () => {
    write("a.txt", "a");
    const script = [
      'import os; at = os.open(".", os.O_RDONLY)',
      'for _ in range(50): os.mkdir("d" * 100, dir_fd=at); at = os.open("d" * 100, os.O_RDONLY, dir_fd=at)',
    ].join("\n");
    expect(spawnSync("python3", ["-c", script], { cwd: output }).status).toBe(0);
    const { stored, left } = await createCollector().collector.collect();
    expect([stored, left.map((line) => line.replace(/^(d{100}\/)+d{100}/, "deep"))]).toEqual([
      ["a.txt"],
      ["deep: the directory cannot be read"],
    ]);
    spawnSync("rm", ["-rf", join(output, "d".repeat(100))]);
  });

  it("names a file without permissions, and stores the rest", async () => {
    for (const name of ["a.txt", "locked.txt"]) write(name, name);
    const open = promises.open;
    vi.spyOn(promises, "open").mockImplementation(async (file, ...rest) => {
      // The kernel refuses it to users other than root, as whom this test may run.
      if (String(file).endsWith("locked.txt")) throw Object.assign(new Error("permission denied"), { code: "EACCES" });
      return await open(file, ...rest);
    });
    syncBuiltinESMExports();
    const report = await createCollector().collector.collect();
    vi.restoreAllMocks();
    syncBuiltinESMExports();
    expect(report).toEqual({ stored: ["a.txt"], left: ["locked.txt: it cannot be read"] });
  });

  it("uploads a file that is not stored yet with its type, and confirms it", async () => {
    write("a.csv", "1,2");
    const uploads: unknown[] = [];
    vi.stubGlobal("fetch", async (url: string, { method, headers, body }: RequestInit) => {
      uploads.push([url, method, headers, body instanceof Blob ? [body.type, await body.text()] : body]);
      return new Response(null);
    });
    const reported: ReportArtifactRequest[] = [];
    const collector = createArtifactCollector({
      plane: {
        async reportArtifact(artifact) {
          reported.push(artifact);
          return {
            artifact_uid: "1",
            upload: { url: "https://storage.example/1", method: "PUT", headers: { a: "1" } },
          };
        },
      },
      ...{ redactor: createRedactor([]), output, signal: new AbortController().signal },
    });
    expect(await collector.collect()).toEqual({ stored: ["a.csv"], left: [] });
    vi.unstubAllGlobals();
    expect(uploads).toEqual([["https://storage.example/1", "PUT", { a: "1" }, ["text/csv", "1,2"]]]);
    expect([reported.length, reported[0]]).toEqual([2, reported[1]]);
  });

  it("finds nothing in a missing or empty directory, or in a link in its place", async () => {
    let prepared = 0;
    const collect = () => createCollector().collector.collect(async () => void prepared++);
    expect(await collect()).toEqual({ stored: [], left: [] });
    write("a.txt", "x");
    renameSync(output, join(workspace, "moved"));
    expect(await collect()).toEqual({ stored: [], left: [] });
    symlinkSync(join(workspace, "moved"), output);
    expect(await collect()).toEqual({ stored: [], left: [] });
    expect(prepared).toBe(0);
  });
});

it("guessMimeType uses the extension in any case", () => {
  expect(["a/b.PNG", "x.tar.gz", "x.patch", ".md", "README", "x.unknown"].map(guessMimeType)).toEqual([
    ...["image/png", "application/gzip", "text/plain"],
    ...["application/octet-stream", "application/octet-stream", "application/octet-stream"],
  ]);
});

it.each([
  ["md", "text/markdown"],
  ["txt", "text/plain"],
  ["log", "text/plain"],
  ["patch", "text/plain"],
  ["diff", "text/plain"],
  ["csv", "text/csv"],
  ["html", "text/html"],
  ["css", "text/css"],
  ["js", "text/javascript"],
  ["json", "application/json"],
  ["jsonl", "application/jsonl"],
  ["yaml", "application/yaml"],
  ["yml", "application/yaml"],
  ["xml", "application/xml"],
  ["pdf", "application/pdf"],
  ["zip", "application/zip"],
  ["gz", "application/gzip"],
  ["tar", "application/x-tar"],
  ["png", "image/png"],
  ["jpg", "image/jpeg"],
  ["jpeg", "image/jpeg"],
  ["gif", "image/gif"],
  ["svg", "image/svg+xml"],
  ["webp", "image/webp"],
])("a file with the extension %s has the type %s", (extension, type) => {
  expect(guessMimeType(`a/b.${extension}`)).toBe(type);
});

describe("createRetryReporter", () => {
  it("reports the known details of at most 200 retries", () => {
    const events: unknown[] = [];
    const report = createRetryReporter({ event: (name, payload) => void events.push([name, payload]) });
    report({ attempt: 1, reason: "a\0b", of: 10, nextInMs: 0 });
    report({ attempt: 2, reason: "gone" });
    expect(events).toStrictEqual([
      ["model_retry", { attempt: 1, of: 10, reason: "a\ufffdb", next_in_ms: 0 }],
      ["model_retry", { attempt: 2, reason: "gone" }],
    ]);
    for (let attempt = 3; attempt <= 300; attempt++) report({ attempt, reason: "gone" });
    expect(events).toHaveLength(200);
  });
});
