import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";

it("paths.json has the path of every page of the app, by which servers tell unknown addresses", async () => {
  const router = await readFile("web/router.tsx", "utf8");
  const paths = [...router.matchAll(/path: "(\/[^"]*)"/g)].map(([, path]) => path);
  expect(JSON.parse(await readFile("web/public/paths.json", "utf8"))).toEqual([...new Set(paths)].sort());
});
