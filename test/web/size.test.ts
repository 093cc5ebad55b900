import { expect, it } from "vitest";
import { webScriptBytes } from "../../lab/bench/web-script.ts";

it("the first page needs at most 150 kB of script, gzipped", async () => {
  expect(await webScriptBytes()).toBeLessThanOrEqual(150_000);
});
