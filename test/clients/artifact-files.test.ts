import { describe, expect, it } from "vitest";
import { type ArtifactItem, planArtifactFiles, Runyard } from "../../clients/typescript/src/index.ts";
import vectors from "./artifact-files.json" with { type: "json" };

const created_at = "2026-05-18T19:00:00.000Z";
const pull: ArtifactItem = {
  artifact_type: "PULL_REQUEST",
  created_at,
  data: { url: "https://x.test/1", branch: "a", status: "open" },
};
const file = (filepath: string, index: number): ArtifactItem => ({
  artifact_type: "FILE",
  created_at,
  data: { artifact_uid: `uid-${index}`, filepath, filename: "", mime_type: "text/plain" },
});

describe("planArtifactFiles", () => {
  it.each(vectors)("saves $names as $paths", ({ names, paths }) => {
    expect(planArtifactFiles([pull, ...names.map(file)]).map(({ path }) => path)).toEqual(paths);
  });
});

describe("runs.downloadArtifacts", () => {
  it("downloads each artifact that has content, with the path to save it to", async () => {
    const asked: string[] = [];
    const client = new Runyard({
      apiKey: "key",
      baseURL: "https://runyard.test/api/v1",
      fetch: async (url) => {
        const { pathname } = new URL(String(url));
        asked.push(pathname);
        if (pathname.endsWith("/runs/r1")) return Response.json({ artifacts: [pull, file("../a", 1), file("a", 2)] });
        const data = { content: `of ${pathname.at(-1)}`, content_type: "text/markdown" };
        return Response.json({ artifact_type: "PLAN", data });
      },
    });
    const saved: [string, string][] = [];
    for await (const { path, response } of client.runs.downloadArtifacts("r1"))
      saved.push([path, await response.text()]);
    expect(saved).toEqual([
      ["a", "of 1"],
      ["a-2", "of 2"],
    ]);
    expect(asked).toHaveLength(3);
  });
});
