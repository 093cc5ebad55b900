import { createHash, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { FileRemoval, FileStore } from "#shared/files/file-store.ts";
import type { UploadTarget } from "#shared/wire/harness.ts";

/** The contract of every file store. */
export function fileStoreContract(makeStore: () => FileStore & FileRemoval): void {
  const fresh = () => ({ store: makeStore(), key: `runs/${randomUUID()}/file é+%.txt` });

  it("keeps a file as first written, whatever is put later", async () => {
    const { store, key } = fresh();
    await store.put(key, "first 😀", "text/plain");
    await store.put(key, "second", "text/plain");
    expect(Buffer.from((await store.get(key)) ?? "").toString()).toBe("first 😀");
    expect(await store.size(key)).toBe(Buffer.byteLength("first 😀"));
  });

  it("keeps bytes unchanged, including an empty file", async () => {
    const { store, key } = fresh();
    const bytes = Buffer.from([0, 1, 254, 255]);
    await store.put(key, bytes, "application/octet-stream");
    expect(Buffer.from((await store.get(key)) ?? "")).toEqual(bytes);
    await store.put(`${key}.empty`, "", "text/plain");
    expect(await store.size(`${key}.empty`)).toBe(0);
  });

  it("copies a file, and the copy is independent", async () => {
    const { store, key } = fresh();
    await store.put(key, "the same", "text/plain");
    await store.copy(key, `${key}.copy`);
    expect(Buffer.from((await store.get(`${key}.copy`)) ?? "").toString()).toBe("the same");
    expect(await store.size(key)).toBe(8);
    await expect(store.copy(`${key}.none`, `${key}.other`)).rejects.toThrow();
    expect(await store.size(`${key}.other`)).toBeUndefined();
  });

  it("deletes a file, or nothing where there is none", async () => {
    const { store, key } = fresh();
    await store.put(key, "one", "text/plain");
    await store.put(`${key}.other`, "two", "text/plain");
    await store.remove(key);
    await store.remove(key);
    expect([await store.get(key), await store.size(`${key}.other`)]).toEqual([undefined, 3]);
    await store.put(key, "three", "text/plain");
    expect(Buffer.from((await store.get(key)) ?? "").toString()).toBe("three");
  });

  it("deletes all files with a prefix, and no others", async () => {
    const { store } = fresh();
    const id = randomUUID();
    const kept = [`runs/${id}0/a.txt`, `runs/${id}`, `requests/${id}/a.txt`];
    const deleted = [`runs/${id}/a.txt`, `runs/${id}/é/b c.txt`, `runs/${id}/${"long".repeat(60)}/c.txt`];
    await Promise.all([...kept, ...deleted].map((key) => store.put(key, "text", "text/plain")));
    await store.removeAll(`runs/${id}/`);
    await store.removeAll(`runs/${id}/`);
    expect(await Promise.all(kept.map(store.size))).toEqual([4, 4, 4]);
    expect(await Promise.all(deleted.map(store.size))).toEqual([undefined, undefined, undefined]);
  });

  it("keeps the files in folders of some names when it deletes all others with a prefix", async () => {
    const { store } = fresh();
    const id = randomUUID();
    const kept = [`runs/${id}/e/messages/1.json`, `runs/${id}/f/raw/a/1.jsonl`, `runs/${id}/messages/b.json`];
    const deleted = [`runs/${id}/messages.json`, `runs/${id}/e/artifacts/raw`, `runs/${id}/transcript-1.jsonl`];
    await Promise.all([...kept, ...deleted].map((key) => store.put(key, "text", "text/plain")));
    await store.removeAll(`runs/${id}/`, ["messages", "raw"]);
    expect(await Promise.all(kept.map(store.size))).toEqual([4, 4, 4]);
    expect(await Promise.all(deleted.map(store.size))).toEqual([undefined, undefined, undefined]);
    await store.removeAll(`runs/${id}/`);
    expect(await Promise.all(kept.map(store.size))).toEqual([undefined, undefined, undefined]);
  });

  it("returns nothing for a missing file", async () => {
    const { store, key } = fresh();
    expect(await store.get(key)).toBeUndefined();
    expect(await store.size(key)).toBeUndefined();
  });
}

/** The additional contract of S3's signed URLs. `makeStore` gets the lifetime of a download URL in seconds. */
export function signedUrls(makeStore: (seconds: number) => FileStore): void {
  const content = "the very content";
  const described = (text: string) => ({
    sizeBytes: Buffer.byteLength(text),
    sha256: createHash("sha256").update(text).digest("hex"),
    contentType: "text/plain",
  });
  const fresh = () => ({ store: makeStore(900), key: `runs/${randomUUID()}/artifact` });
  const upload = (target: UploadTarget, body: string, headers: Record<string, string> = {}) =>
    fetch(target.url, { method: target.method, body, headers: { ...target.headers, ...headers } });

  describe("an upload target", () => {
    it("accepts exactly its bytes, without credentials", async () => {
      const { store, key } = fresh();
      const target = await store.uploadTarget(key, described(content));
      expect(target).toMatchObject({
        method: "PUT",
        headers: { "content-length": String(content.length), "if-none-match": "*" },
      });
      expect((await upload(target, content)).status).toBe(200);
      expect(Buffer.from((await store.get(key)) ?? "").toString()).toBe(content);
    });

    it("is signed for its length, checksum and type, and against overwriting", async () => {
      const { store, key } = fresh();
      const url = new URL((await store.uploadTarget(key, described(content))).url);
      expect(url.searchParams.get("X-Amz-SignedHeaders")?.split(";")).toEqual(
        expect.arrayContaining(["content-length", "content-type", "if-none-match", "x-amz-checksum-sha256"]),
      );
      expect(url.searchParams.get("X-Amz-Expires")).toBe("600");
    });

    it("rejects other bytes of the same length", async () => {
      const { store, key } = fresh();
      const target = await store.uploadTarget(key, described(content));
      expect((await upload(target, content.replace("very", "evil"))).ok).toBe(false);
      expect(await store.size(key)).toBeUndefined();
    });

    it("rejects more or fewer bytes, also with another length than signed", async () => {
      const { store, key } = fresh();
      const target = await store.uploadTarget(key, described(content));
      for (const body of [`${content}!`, content.slice(1)]) {
        const response = await upload(target, body, { "content-length": String(body.length) }).catch(() => undefined);
        expect(response?.ok ?? false).toBe(false);
        expect(await store.size(key)).toBeUndefined();
      }
    });

    it("does not overwrite an existing file", async () => {
      const { store, key } = fresh();
      const target = await store.uploadTarget(key, described(content));
      await store.put(key, "there already", "text/plain");
      expect((await upload(target, content)).ok).toBe(false);
      expect(Buffer.from((await store.get(key)) ?? "").toString()).toBe("there already");
    });

    it("cannot be used for another file", async () => {
      const { store, key } = fresh();
      const target = await store.uploadTarget(key, described(content));
      const moved = { ...target, url: target.url.replace("/artifact?", "/another?") };
      expect((await upload(moved, content)).ok).toBe(false);
    });
  });

  describe("an upload URL", () => {
    const put = (url: string, body: string, type = "text/plain") =>
      fetch(url, { method: "PUT", body, headers: { "content-type": type } });

    it("accepts a file with its type and no other header, again too", async () => {
      const { store, key } = fresh();
      const { url, expiresAt } = await store.uploadUrl(key, { sizeBytes: undefined, contentType: "text/plain" });
      expect(expiresAt - Date.now()).toBeGreaterThan(590_000);
      for (const body of [content, `${content}!`]) {
        expect((await put(url, body)).status).toBe(200);
        expect(Buffer.from((await store.get(key)) ?? "").toString()).toBe(body);
      }
    });

    it("rejects another type, and another size where it is known", async () => {
      const { store, key } = fresh();
      const { url } = await store.uploadUrl(key, { sizeBytes: content.length, contentType: "text/plain" });
      expect((await put(url, content, "text/html")).ok).toBe(false);
      expect((await put(url, `${content}!`)).ok).toBe(false);
      expect(await store.size(key)).toBeUndefined();
      expect((await put(url, content)).status).toBe(200);
    });
  });

  describe("an upload form", () => {
    const createForm = (
      { fields = [] }: UploadTarget,
      body: string,
      changed: Record<string, string> = {},
    ): FormData => {
      const form = new FormData();
      for (const { name, value } of fields) {
        if (value.kind === "static") form.append(name, changed[name] ?? value.value);
        else if (value.kind === "content_data") form.append(name, new Blob([body]), "file");
      }
      return form;
    };
    const send = (target: UploadTarget, ...form: [body: string, changed?: Record<string, string>]) =>
      fetch(target.url, { method: target.method, body: createForm(target, ...form) });
    const options = { mostBytes: 20, contentType: "text/plain" };

    it("accepts a file without credentials", async () => {
      const { store, key } = fresh();
      const target = await store.uploadForm(key, options);
      expect((await send(target, content)).ok).toBe(true);
      expect(Buffer.from((await store.get(key)) ?? "").toString()).toBe(content);
    });

    it("is signed for its key, type and length, and valid for 10 minutes", async () => {
      const { store, key } = fresh();
      const { fields = [] } = await store.uploadForm(key, options);
      const values = Object.fromEntries(
        fields.map(({ name, value }) => [name, value.kind === "static" ? value.value : ""]),
      );
      const { expiration, conditions } = JSON.parse(Buffer.from(values["policy"] ?? "", "base64").toString());
      expect(Date.parse(expiration) - Date.now()).toBeGreaterThan(590_000);
      expect(Date.parse(expiration) - Date.now()).toBeLessThanOrEqual(600_000);
      expect(conditions).toEqual(
        expect.arrayContaining([{ key }, { "Content-Type": "text/plain" }, ["content-length-range", 1, 20]]),
      );
      expect(values["x-amz-signature"]).toMatch(/^[0-9a-f]{64}$/);
    });

    it("rejects a larger file and another key", async () => {
      const { store, key } = fresh();
      const target = await store.uploadForm(key, options);
      expect((await send(target, content.repeat(5))).ok).toBe(false);
      expect((await send(target, content, { key: `${key}2` })).ok).toBe(false);
      expect(await store.size(key)).toBeUndefined();
      expect(await store.size(`${key}2`)).toBeUndefined();
    });
  });

  describe("a download URL", () => {
    // @contract runs.transcript.no-key
    // @contract runs.artifact.download: A browser saves a download under its name and type, and never shows it as a page.
    it("works without credentials, as a download with file name and type", async () => {
      const { store, key } = fresh();
      await store.put(key, content, "text/plain");
      const { url } = await store.downloadUrl(key, { filename: 'résumé "1".html', contentType: "text/html" });
      const response = await fetch(url);
      expect(response.status).toBe(200);
      expect(await response.text()).toBe(content);
      expect(response.headers.get("content-type")).toBe("text/html");
      expect(response.headers.get("content-disposition")).toBe(
        `attachment; filename="r_sum_ _1_.html"; filename*=UTF-8''r%C3%A9sum%C3%A9%20%221%22.html`,
      );
    });

    it("works until it expires", async () => {
      const store = makeStore(5);
      const key = `runs/${randomUUID()}/transcript`;
      await store.put(key, content, "text/plain");
      const { url, expiresAt } = await store.downloadUrl(key, { filename: "a", contentType: "text/plain" });
      expect(expiresAt - Date.now()).toBeGreaterThan(3_000);
      expect(expiresAt - Date.now()).toBeLessThanOrEqual(5_000);
      expect((await fetch(url)).status).toBe(200);
      await sleep(expiresAt - Date.now() + 1_500);
      expect((await fetch(url)).status).toBe(403);
    });

    it("fails if it was changed", async () => {
      const { store, key } = fresh();
      await store.put(key, content, "text/plain");
      await store.put(`${key}2`, "another", "text/plain");
      const { url } = await store.downloadUrl(key, { filename: "a", contentType: "text/plain" });
      expect((await fetch(url.replace("/artifact?", "/artifact2?"))).status).toBe(403);
      expect((await fetch(url.replace("text%2Fplain", "text%2Fhtml"))).status).toBe(403);
    });
  });
}
