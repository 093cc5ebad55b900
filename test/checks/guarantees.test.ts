import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkGuarantees } from "../../scripts/guarantees.ts";
import { root } from "../../scripts/run-command.ts";

const toPage = (...rows: string[]) =>
  `# Security\n\n## What commands cannot do to the host\n\n| guarantee | tests | cases |\n|---|---|---|\n${rows.join("\n")}\n\n## Next\n| x | [b.test.ts](../test/b.test.ts) | 9 |\n`;
const toReport = (files: Record<string, string[]>) =>
  JSON.stringify({
    testResults: Object.entries(files).map(([file, titles]) => ({
      name: join(root, file),
      assertionResults: titles.map((title) => ({ ancestorTitles: ["a command"], title })),
    })),
  });
const ran = toReport({ "test/a.test.ts": ["is one", "is two", "cannot do x (1)"], "test/b.test.ts": ["is three"] });
const SOURCE = "const CASES = 2_000;\nfc.assert(property, { numRuns: CASES }); fc.assert(other, { numRuns: 20 });";
const A = "[a.test.ts](../test/a.test.ts)";
const B = "[b.test.ts](../test/b.test.ts)";

describe("the check of counted guarantees", () => {
  it.each([
    [`| It holds | ${A} "is one", "cannot do %s" | 2 |`],
    [`| It holds | ${A} "a command > is "; ${B} "is three" | 3, and 20 generated |`],
    [`| It holds | ${A} "is one", "is " | 2 |`],
    [`| It holds | ${B} | 1 |`],
    [`| It holds | ${A} "is one" | 1, and 2,000 generated for each |`],
    [`| It did not run | ${B}; [c.test.ts](../test/c.test.ts) "x" | 7 |`],
  ])("accepts %s", (row) => {
    expect(checkGuarantees(ran, toPage(row), () => SOURCE)).toMatchObject({ ok: true, output: "" });
  });

  it("names a guarantee with another number of tests, and a page without guarantees", () => {
    expect(checkGuarantees(ran, toPage(`| It holds | ${A} "is " | 3 |`), () => SOURCE)).toMatchObject({
      ok: false,
      output: "docs/security.md, It holds: says 3, and 2 tests ran",
    });
    expect(
      checkGuarantees(ran, toPage(`| It holds | ${A} "is " | 2, and 500 generated |`), () => SOURCE),
    ).toMatchObject({
      ok: false,
      output: "docs/security.md, It holds: says that 500 cases are generated, and its tests do not",
    });
    const tried = `# Security\n\n## What was tried\n\n| attack | tests | cases |\n|---|---|---|\n| It holds | ${A} | 4 |\n`;
    expect(checkGuarantees(ran, tried, () => SOURCE)).toMatchObject({
      ok: false,
      output: "docs/security.md, It holds: says 4, and 3 tests ran",
    });
    expect(checkGuarantees(ran, "# Security\n")).toMatchObject({ ok: false });
  });
});
