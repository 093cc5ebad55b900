import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { dropStrayBuckets, stateSavedAt, transitionState } from "../../emulator/emulator-state.ts";
import { type LocalPaths, localPaths } from "../../server/host/paths.ts";

describe("the emulator's state on disk", () => {
  let paths: LocalPaths;

  beforeEach(async () => {
    paths = localPaths({ RUNYARD_STATE: await mkdtemp(path.join(tmpdir(), "state-")) });
    await mkdir(paths.state);
  });
  afterEach(() => rm(paths.home, { recursive: true, force: true }));

  const put = (name: string, text: string) => writeFile(path.join(paths.state, name), text);

  test("is that of the last clean stop, whatever was written since", async () => {
    expect(await stateSavedAt(paths)).toBeUndefined();
    await put("signing-key.pem", "");
    expect(await stateSavedAt(paths)).toBeUndefined();
    await put("sqs.json", "{}");
    const then = new Date("2026-05-18T19:00:00Z");
    await utimes(path.join(paths.state, "sqs.json"), then, then);
    expect(await stateSavedAt(paths)).toEqual(then);
  });

  test("is moved to another port with the addresses of its queues", async () => {
    await put("sqs.json", '{"url":"http://localhost:14566/000000000000/runs","port":14566}');
    await transitionState(paths, 14_566, 14_570);
    expect(await readFile(path.join(paths.state, "sqs.json"), "utf8")).toBe(
      '{"url":"http://localhost:14570/000000000000/runs","port":14566}',
    );
  });

  test("drops buckets that a killed start created, and keeps those in the state", async () => {
    const account = path.join(paths.objects, "000000000000");
    await mkdir(path.join(account, "known/a"), { recursive: true });
    await mkdir(path.join(account, "stray/b"), { recursive: true });
    await put("s3.json", `{"buckets_meta":{"000000000000\\u0000'known'":{}}}`);
    await dropStrayBuckets(paths);
    expect(await readdir(account)).toEqual(["known"]);
    await rm(path.join(paths.state, "s3.json"));
    await dropStrayBuckets(paths);
    expect(await readdir(account)).toEqual([]);
  });
});
