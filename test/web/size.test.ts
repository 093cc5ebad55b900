import { expect, it } from "vitest";
import { webScriptBytes } from "../../bench/web-script.ts";

it("needs at most 150 kB of script, gzipped, to show the first page", async () => {
  expect(await webScriptBytes()).toBeLessThanOrEqual(150_000);
});
