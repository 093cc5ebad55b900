import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createTextMatcher } from "#shared/runs/listing/fuzzy-search.ts";

// @contract runs.list.q
describe("fuzzy search", () => {
  test.each([
    ["hello", "Hello, world"],
    ["WORLD hello", "Hello, world"],
    ["uber cafe", "Über das Café"],
    ["Ünïcode", "unicode"],
    ["deplyo", "Deploy the service"],
    ["deply", "Deploy the service"],
    ["depploy", "Deploy the service"],
    ["denloy", "Deploy the service"],
    ["helo", "say hello"],
    ["repository-report", "acme/tools:repository-report"],
    ["日本", "日本語の文章"],
    ["serv", "Deploy the service"],
  ])("%j finds %j", (query, text) => {
    expect(createTextMatcher(query)(text)).toBe(true);
  });

  test.each([
    ["release", "Deploy the service"],
    ["deploy release", "Deploy the service"],
    ["cat", "car park"],
    ["!!!", "Deploy the service"],
  ])("%j does not find %j", (query, text) => {
    expect(createTextMatcher(query)(text)).toBe(false);
  });

  test("no unusual query throws or runs forever", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 256 }),
        fc.string({ unit: "binary", maxLength: 600 }),
        (query, text) => {
          expect(typeof createTextMatcher(query)(text)).toBe("boolean");
        },
      ),
      { numRuns: 300 },
    );
    expect(createTextMatcher("(a+)+$ ".repeat(36))("a".repeat(812))).toBe(true);
  });
});
