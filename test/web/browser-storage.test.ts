import { afterEach, expect, it, vi } from "vitest";
import { readStored, store } from "../../web/api/browser-storage.ts";
import { dropDrafts, keepDraft, readDrafts } from "../../web/api/drafts.ts";

afterEach(() => vi.unstubAllGlobals());

/** A storage of the browser, with room for texts of ten characters. */
function stubStorage(kept = new Map<string, string>()): Map<string, string> {
  vi.stubGlobal("sessionStorage", {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => {
      if (value.length > 10) throw new DOMException("full", "QuotaExceededError");
      kept.set(name, value);
    },
    removeItem: (name: string) => kept.delete(name),
  });
  return kept;
}

it("store keeps a value in the browser until it is removed", () => {
  const kept = stubStorage();
  expect([store("sessionStorage", "a", "1"), readStored("sessionStorage", "a"), kept.get("a")]).toEqual([
    true,
    "1",
    "1",
  ]);
  expect([store("sessionStorage", "a", undefined), readStored("sessionStorage", "a"), kept.size]).toEqual([
    true,
    undefined,
    0,
  ]);
});

it("store keeps a value for the page where the browser has no space, in place of the older one", () => {
  const kept = stubStorage(new Map([["a", "old"]]));
  expect([store("sessionStorage", "a", "longer than ten"), readStored("sessionStorage", "a")]).toEqual([
    false,
    "longer than ten",
  ]);
  expect([store("sessionStorage", "a", "new"), readStored("sessionStorage", "a"), kept.get("a")]).toEqual([
    true,
    "new",
    "new",
  ]);
});

it("store keeps a value for the page where the browser blocks storage", () => {
  vi.stubGlobal("sessionStorage", undefined);
  expect([store("sessionStorage", "b", "1"), readStored("sessionStorage", "b")]).toEqual([false, "1"]);
  expect([store("sessionStorage", "b", undefined), readStored("sessionStorage", "b")]).toEqual([false, undefined]);
});

it("drafts are those of the person who wrote them, until they are dropped", () => {
  stubStorage();
  keepDraft("ada", "new-run", { prompt: "Go." });
  keepDraft("ada", "follow-up", "And?");
  keepDraft("ada", "follow-up", undefined);
  expect([readDrafts("ada"), readDrafts("eve")]).toEqual([{ "new-run": { prompt: "Go." } }, {}]);
  dropDrafts();
  expect(readDrafts("ada")).toEqual({});
});
