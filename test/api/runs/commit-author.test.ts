import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { workingRun } from "../../support/execution.ts";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});
afterEach(() => vi.unstubAllEnvs());

const author = (name: string) => `${name} <${name}@example.com>`;
/** The author that an execution of a new run is told. */
async function readAuthor(config: Record<string, unknown> = {}): Promise<string | undefined> {
  const harness = await workingRun(plane, { prompt: "hello", config });
  return (await harness.resolve()).body.context.agent_config.commit_author;
}
const setTeam = (commit_author: string | null) =>
  user.put(`/agent/teams/${plane.team}`, { settings: { commit_author } });

describe("the author of commits", () => {
  it("is that of the run, else of its environment, its team or the deployment", async () => {
    expect(await readAuthor()).toBeUndefined();
    vi.stubEnv("RUNYARD_COMMIT_AUTHOR", author("deployment"));
    expect(await readAuthor()).toBe(author("deployment"));
    expect(await setTeam(author("team"))).toMatchObject({
      status: 200,
      body: { settings: { commit_author: author("team") } },
    });
    expect(await readAuthor()).toBe(author("team"));
    const made = await user.post("/agent/environments", { name: "E", commit_author: author("environment") });
    expect(made.body.config.commit_author).toBe(author("environment"));
    const environment_id = made.body.uid;
    expect(await readAuthor({ environment_id })).toBe(author("environment"));
    expect(await readAuthor({ environment_id, commit_author: author("run") })).toBe(author("run"));
    await user.put(`/agent/environments/${environment_id}`, { commit_author: "" });
    expect(await readAuthor({ environment_id })).toBe(author("team"));
    await setTeam(null);
    expect(await readAuthor({ environment_id })).toBe(author("deployment"));
  });

  it.each(["Ada", "ada@example.com", "<ada@example.com>", "Ada <ada>", "Ada\n[core] <a@example.com>", "A <a@b> <c@d>"])(
    "is refused as %j, which is not a name with an address",
    async (commit_author) => {
      const refused = { status: 400, body: { errors: [{ path: "config.commit_author" }] } };
      expect(await user.post("/agent/runs", { prompt: "hello", config: { commit_author } })).toMatchObject(refused);
    },
  );
});
