import { expect, it } from "vitest";
import { attachmentDisposition, fileKeys, formerTranscriptKey, runFilePrefixes } from "#shared/files/file-store.ts";
import { memoryFileStore } from "#shared/files/memory-file-store.ts";
import { uuidv7 } from "#shared/ids.ts";

const DIGEST = "0123456789abcdef".repeat(4);
const UUID = "0199e0b2-0000-7000-8000-00000000dead";

it("fileKeys name each kind of file by what it belongs to, and by its content where a repeat is the same file", () => {
  expect([
    fileKeys.prompt("q", DIGEST),
    fileKeys.schedulePrompt("s", DIGEST),
    fileKeys.attachment("q", DIGEST),
    fileKeys.attachment("q", UUID),
    fileKeys.upload("u"),
    fileKeys.followup("r", DIGEST),
    fileKeys.messages("r", "e", 7, DIGEST),
    fileKeys.artifact("r", "e", "u"),
    fileKeys.plan("r", "e", DIGEST),
    fileKeys.skills("o/r", DIGEST),
    fileKeys.snapshot("r", "e", "g", 2),
    fileKeys.rawTranscript("r", "e", 3),
    fileKeys.transcript("r", 12),
    formerTranscriptKey("r", 12),
  ]).toEqual([
    `requests/q/prompt-${DIGEST.slice(0, 32)}.txt`,
    `schedules/s/prompt-${DIGEST.slice(0, 32)}.txt`,
    `requests/q/attachments/${DIGEST.slice(0, 36)}`,
    `requests/q/attachments/${UUID}`,
    "attachments/u/u",
    `runs/r/r/followups/${DIGEST.slice(0, 32)}.txt`,
    `runs/r/r/e/messages/0000000007-${DIGEST.slice(0, 16)}.json`,
    "runs/r/r/e/artifacts/u",
    `runs/r/r/e/plans/${DIGEST.slice(0, 32)}.md`,
    `skills/o/r/${DIGEST}.json`,
    "snapshots/r/r/e/g/2",
    "runs/r/r/e/raw/3.jsonl",
    "runs/r/r/transcript-12.jsonl",
    "runs/r/transcript-12.jsonl",
  ]);
});

it("fileKeys of runs that are created at the same time differ in their first characters", () => {
  const now = Date.parse("2026-05-18T19:00:00.000Z");
  const runs = Array.from({ length: 4_000 }, () => uuidv7(now));
  const toKeys = [
    (run: string) => fileKeys.messages(run, "e", 1, DIGEST),
    (run: string) => fileKeys.transcript(run, 9),
    (run: string) => fileKeys.snapshot(run, "e", "g", 0),
    fileKeys.upload,
  ];
  for (const toKey of toKeys) {
    const firsts = Map.groupBy(runs.map(toKey), (key) => key.slice(0, key.indexOf("/") + 2));
    // One of sixteen partitions gets about a sixteenth of the writes.
    expect(firsts.size).toBe(16);
    expect(Math.max(...[...firsts.values()].map(({ length }) => length))).toBeLessThan(400);
  }
});

it("runFilePrefixes include those of earlier releases", () => {
  expect(runFilePrefixes(UUID)).toEqual([
    `runs/dead/${UUID}/`,
    `snapshots/dead/${UUID}/`,
    `runs/${UUID}/`,
    `snapshots/${UUID}/`,
  ]);
});

it("attachmentDisposition has the filename in ASCII and in UTF-8", () => {
  expect(attachmentDisposition(`a "b\\c" é~ '(*)'.txt`)).toBe(
    `attachment; filename="a _b_c_ _~ '(*)'.txt"; filename*=UTF-8''a%20%22b%5Cc%22%20%C3%A9~%20%27%28%2A%29%27.txt`,
  );
  expect(attachmentDisposition("\u007f\u0000")).toBe(`attachment; filename="__"; filename*=UTF-8''%7F%00`);
});

it("the file store in memory keeps the first file of a key, and copies and measures files", async () => {
  const store = memoryFileStore();
  await store.put("a", "é", "text/plain");
  await store.put("a", "other", "text/plain");
  await store.copy("a", "b");
  expect([await store.size("a"), await store.size("none"), await store.get("none")]).toEqual([2, undefined, undefined]);
  expect(Buffer.from((await store.get("b")) ?? []).toString()).toBe("é");
  await expect(store.copy("none", "c")).rejects.toThrow("there is no file none");
  const file = { filename: "f", contentType: "text/plain" };
  expect(await store.downloadUrl("a", file)).toEqual({ url: "https://files.test/a", expiresAt: 0 });
  expect(await store.uploadTarget("a", { sizeBytes: 2, sha256: DIGEST, contentType: "text/plain" })).toEqual({
    url: "https://files.test/a",
    method: "PUT",
    headers: { "content-length": "2" },
  });
  expect(await store.uploadForm("a", { mostBytes: 2, contentType: "text/plain" })).toEqual({
    url: "https://files.test/a",
    method: "POST",
    headers: null,
    fields: [
      { name: "key", value: { kind: "static", value: "a" } },
      { name: "file", value: { kind: "content_data" } },
    ],
  });
});
