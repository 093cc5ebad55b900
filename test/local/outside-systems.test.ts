import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readOutsideSystems } from "../../emulator/outside-systems.ts";

const APP = { id: 314159, slug: "runyard", client_id: "Iv23li", client_secret: "c", webhook_secret: "w", pem: "p" };

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "runyard-systems-"));
});
afterEach(async () => rm(folder, { recursive: true }));

describe("readOutsideSystems", () => {
  test("names addresses and the App's id in the settings of the deployment, and keeps the keys apart", async () => {
    const file = path.join(folder, "github-app.json");
    await writeFile(file, JSON.stringify(APP));
    expect(await readOutsideSystems({})).toEqual({ context: {} });
    const environment = { RUNYARD_SLACK_API_URL: "http://127.0.0.1:1/slack", RUNYARD_GITHUB_APP: file };
    expect(await readOutsideSystems(environment)).toEqual({
      context: { slackApiUrl: "http://127.0.0.1:1/slack", githubAppId: "314159" },
      githubApp: APP,
    });
  });

  test("names the file that is missing, or not of the setup", async () => {
    const file = path.join(folder, "other.json");
    const read = () => readOutsideSystems({ RUNYARD_GITHUB_APP: file });
    await expect(read()).rejects.toThrow(`${file}, which is not a file of \`runyard github setup\``);
    await writeFile(file, "{}");
    await expect(read()).rejects.toThrow(file);
  });
});
