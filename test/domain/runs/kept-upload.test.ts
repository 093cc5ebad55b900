import { expect, it } from "vitest";
import { keepFormUpload } from "#shared/files/kept-upload.ts";
import { memoryFileStore } from "#shared/files/memory-file-store.ts";

it("keepFormUpload copies the content once, so that a later use of the form changes nothing", async () => {
  const store = memoryFileStore();
  store.files.set("a", Buffer.from("first"));
  expect(await keepFormUpload("a", store)).toBe("a.kept");
  expect(String(await store.get("a.kept"))).toBe("first");
  store.files.set("a", Buffer.from("second"));
  expect(await keepFormUpload("a", store)).toBe("a.kept");
  expect(String(await store.get("a.kept"))).toBe("first");
});

it("keepFormUpload fails if nothing is uploaded", async () => {
  const store = memoryFileStore();
  await expect(keepFormUpload("a", store)).rejects.toThrow("there is no file a");
  expect(store.files.size).toBe(0);
});
