import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { FaultServer, type ResponseBody } from "../clients/fault-server.ts";
import { createJobFolder, readOutputs, startAction } from "./action-job.ts";
import { api, download, problem, runResponses } from "./responses.ts";

const server = new FaultServer();
let folder = "";
beforeAll(() => server.start());
afterAll(() => server.stop());
beforeEach(() => {
  folder = createJobFolder();
  return () => rmSync(folder, { recursive: true });
});

/** Runs the action for an event of GitHub; the run ends, and then these responses follow. */
async function step(
  { inputs = {}, event = {} }: { readonly inputs?: Record<string, string>; readonly event?: object },
  { run = {}, text = "All done." }: { readonly run?: object; readonly text?: string },
  responses: readonly ResponseBody[],
) {
  server.play([...runResponses("SUCCEEDED", run, text), ...responses]);
  const eventFile = path.join(folder, "event.json");
  writeFileSync(eventFile, JSON.stringify(event));
  const { exited, log } = startAction(
    { folder, baseURL: server.api },
    { prompt: "x", "github-token": "job-token", ...inputs },
    { RUNNER_TEMP: folder, GITHUB_EVENT_PATH: eventFile, GITHUB_API_URL: `${server.api}/github` },
  );
  const code = await exited;
  expect({ complaints: server.complaints, left: server.left }).toEqual({ complaints: [], left: 0 });
  return { code, log: log(), requests: server.seen.slice(4) };
}

const changed = (artifact_uid: string, name: string) => ({
  artifact_type: "FILE",
  created_at: "",
  data: {
    artifact_uid,
    filename: "x.patch",
    git: { path: name, files_changed: 1, insertions: 1, deletions: 0, commits: 0 },
  },
});
const refusal = () => problem(404, "not_found", "no such artifact");
const savedPatches = () => (readOutputs(folder)["patch"] ?? "").split("\n");

describe("the output patch of the GitHub Action", () => {
  it("has the path of a file for each changed repository, which does not depend on the name of the repository", async () => {
    const run = { artifacts: [changed("a", "../../shop"), changed("b", "lib")] };
    const { code } = await step({}, { run }, [...download("a", "diff --git a\n"), ...download("b", "diff --git b\n")]);
    expect(code).toBe(0);
    expect(savedPatches().map((file) => path.relative(folder, file))).toEqual([
      expect.stringMatching(/^runyard-\w+\/1\.patch$/),
      expect.stringMatching(/^runyard-\w+\/2\.patch$/),
    ]);
    expect(savedPatches().map((file) => readFileSync(file, "utf8"))).toEqual(["diff --git a\n", "diff --git b\n"]);
  });

  it("is not set if the patch cannot be downloaded; the step warns and succeeds", async () => {
    const { code, log } = await step({}, { run: { artifacts: [changed("a", "shop")] } }, [refusal()]);
    expect(code).toBe(0);
    expect(log).toContain("::warning title=Runyard::The patch could not be saved: not found (404): no such artifact");
    expect(readOutputs(folder)).not.toHaveProperty("patch");
  });
});

describe("the comment of the GitHub Action", () => {
  const forPullRequest = {
    inputs: { comment: "true", "comment-key": "CI-review-0" },
    event: { pull_request: { number: 7 } },
  };
  const bodyOf = (sent: { readonly body: string } | undefined): string => JSON.parse(sent?.body ?? "{}").body;

  it("is off by default", async () => {
    expect((await step({ event: forPullRequest.event }, {}, [])).requests).toEqual([]);
  });

  it("is written with the job's token, and updated by the marker of its step", async () => {
    const first = await step(forPullRequest, {}, [
      api([{ id: 1, body: "Nice", user: { type: "User" } }]),
      api({ id: 2 }),
    ]);
    expect(first.code).toBe(0);
    expect(first.requests).toMatchObject([
      { method: "GET", path: "/github/repos/acme/shop/issues/7/comments", rawQuery: "per_page=100&page=1" },
      {
        method: "POST",
        path: "/github/repos/acme/shop/issues/7/comments",
        headers: { authorization: "Bearer job-token" },
      },
    ]);
    const body = bodyOf(first.requests[1]);
    const [marker] = body.split("\n");
    expect(marker).toMatch(/^<!-- runyard [0-9a-f]{20} -->$/);

    const copies = Array.from({ length: 100 }, (_, id) => ({ id, body, user: { type: "User" } }));
    const own = { id: 2000, body, user: { type: "Bot" } };
    const second = await step(forPullRequest, { text: "Better." }, [api(copies), api([own]), api({ id: 2000 })]);
    expect(second.requests.map(({ method, path: at, rawQuery }) => `${method} ${at}?${rawQuery}`)).toEqual([
      "GET /github/repos/acme/shop/issues/7/comments?per_page=100&page=1",
      "GET /github/repos/acme/shop/issues/7/comments?per_page=100&page=2",
      "PATCH /github/repos/acme/shop/issues/comments/2000?",
    ]);
    expect(bodyOf(second.requests[2])).toContain("Better.");
    expect(bodyOf(second.requests[2]).split("\n")[0]).toBe(marker);
  });

  it("has a different marker for each key", async () => {
    const markers: string[] = [];
    for (const key of ["a", "b"]) {
      const inputs = { ...forPullRequest.inputs, "comment-key": key };
      const { requests } = await step({ ...forPullRequest, inputs }, {}, [api([]), api({ id: 1 })]);
      markers.push(bodyOf(requests[1]).split("\n")[0] ?? "");
    }
    expect(new Set(markers).size).toBe(2);
  });

  it("quotes as code what the agent wrote, so that GitHub follows none of it", async () => {
    const text = "````\n@acme/all ![x](https://evil.example/x.png)\u202e</details>\n```";
    const run = { title: "@ada [x](https://evil.example)", session_link: "https://runyard.example.com/runs/r1" };
    const { requests } = await step(forPullRequest, { run, text }, [api([]), api({ id: 1 })]);
    expect(bodyOf(requests[1]).split("\n").slice(1).join("\n")).toBe(
      [
        "### ✅ Runyard: SUCCEEDED",
        "",
        "Run [r1](https://runyard.example.com/runs/r1)",
        "",
        "```text\n@ada [x](https://evil.example)\n```",
        "",
        "<details><summary>Answer</summary>\n",
        "`````text\n````\n@acme/all ![x](https://evil.example/x.png)</details>\n```\n`````",
        "\n</details>",
      ].join("\n"),
    );
  });

  it("is written for the event of a comment on a pull request", async () => {
    const event = { issue: { number: 8, pull_request: {} } };
    const { requests } = await step({ ...forPullRequest, event }, {}, [api([]), api({ id: 1 })]);
    expect(requests[1]?.path).toBe("/github/repos/acme/shop/issues/8/comments");
  });

  it.each([
    ["the event is about no pull request", { issue: { number: 8 } }, [], "the job's event is not about one."],
    [
      "the token may not write",
      forPullRequest.event,
      [api([]), api({ message: "Resource not accessible" }, { status: 403 })],
      "GitHub refused (403): Resource not accessible%0ADoes the job have the permission pull-requests: write?",
    ],
  ])("is left out with a warning if %s, and the step succeeds", async (_, event, responses, said) => {
    const { code, log } = await step({ ...forPullRequest, event }, {}, responses);
    expect(code).toBe(0);
    expect(log).toContain(`::warning title=Runyard::The pull request has no comment: ${said}`);
  });
});
