import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openImageStore } from "../../../harness/images/image-store.ts";
import { expireImages } from "../../../server/sandbox/images.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runyard-images-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

describe("a lock of the store of images", () => {
  it("is not removed while it is taken, however old its file is", async () => {
    const store = await openImageStore(directory);
    const { signal } = new AbortController();
    await (await store.lock("an image", signal))[Symbol.asyncDispose]();
    const [name = ""] = readdirSync(directory);
    utimesSync(join(directory, name), 0, 0);
    await using _ = await store.lock("an image", signal);
    const { ino } = statSync(join(directory, name));
    await expireImages(directory, Date.now());
    expect(statSync(join(directory, name)).ino).toBe(ino);
  });
});
