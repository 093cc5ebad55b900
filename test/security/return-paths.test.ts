import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toSafePath } from "../../web/sign-in/safe-path.ts";

const PAGE = "https://runyard.example.com/sign-in";
const originOf = (to: string): string => new URL(to, PAGE).origin;

describe("the path after a sign-in", () => {
  it.each([
    "//evil.example",
    "/\\evil.example",
    "\\/evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "\t//evil.example",
    "/\r\\evil.example",
    "/.//evil.example",
    "/a/..//evil.example",
    "/./\\evil.example",
    "/%2e//evil.example",
    "https://evil.example",
    "https:/evil.example",
    "javascript:alert(1)",
    " //evil.example",
    "evil",
    "",
  ])("is that of the runs instead of %j", (to) => {
    expect(toSafePath(to)).toBe("/runs");
  });

  it.each(["/", "/runs/1?a=b#c", "/runs?q=//x", "/a//b", "/runs/%2F%2Fx"])("is kept: %s", (to) => {
    expect(toSafePath(to)).toBe(to);
  });

  it("is of this app however the URL parser normalizes it, once and again", () => {
    const piece = fc.constantFrom(
      "/",
      "\\",
      ".",
      "..",
      "%2e",
      "\t",
      "\n",
      "\r",
      " ",
      "\0",
      "@",
      ":",
      "#",
      "?",
      "evil.example",
    );
    const to = fc.oneof(
      fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join("")),
      fc.webUrl(),
      fc.string(),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          to,
          to.map((rest) => `/${rest}`),
        ),
        (path) => {
          const safe = toSafePath(path);
          expect(originOf(safe)).toBe(originOf(PAGE));
          // A router resolves the path that it was given, and later the path of the location that this made.
          expect(originOf(new URL(safe, PAGE).pathname)).toBe(originOf(PAGE));
          expect(safe).toMatch(/^\/(?![/\\])/);
        },
      ),
      { numRuns: 5_000 },
    );
  });
});
