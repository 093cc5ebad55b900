import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { toCoAuthorVariable } from "#harness/git/co-author.ts";
import { FakeControlPlane, type RunContext } from "../../../lab/fake-control-plane.ts";
import { Repository } from "../support/repository.ts";
import { runHarness } from "../support/run-harness.ts";

let repository: Repository;
beforeEach(() => {
  repository = new Repository("shop", { "a.txt": "a" });
});
afterEach(() => repository[Symbol.dispose]());

const creator = { name: "Ada Lovelace", email: "ada@example.com" };
const commit = (...more: string[]) =>
  `git commit --quiet --allow-empty -m "Change it" ${more.join(" ")}; git log -1 --format=%B`;
async function run(command: string, context: Partial<RunContext> = {}): Promise<string> {
  await using plane = await FakeControlPlane.start({
    prompt: `\`\`\`sh\n${command}\n\`\`\`\n`,
    context: { creator, ...context },
  });
  const { code, log } = await runHarness(plane);
  expect([code, plane.outcome?.success], log).toEqual([0, true]);
  return plane.outputs.join("");
}

describe("a commit of a run", () => {
  it("names the person who created the run, in clones and in new repositories, once", async () => {
    const agent_config = { repositories: [{ url: repository.url }] };
    const commits = [commit(), "git init -q ../new && cd ../new", commit(), commit("--amend")].join("\n");
    const message = "Change it\n\nCo-authored-by: Ada Lovelace <ada@example.com>\n\n";
    expect(await run(commits, { agent_config })).toBe(message.repeat(3));
  });

  it("has the author that its configuration names, whatever characters the name has, unless variables say otherwise", async () => {
    const agent_config = { commit_author: 'Build "the" \\ Bot; #1 <bot@example.com>' };
    const show = "git log -1 --format='%an <%ae> %cn <%ce>'";
    const made = await run(`git init -q; ${commit()} >/dev/null; ${show}; git config core.x || true`, { agent_config });
    expect(made).toBe(`${agent_config.commit_author} ${agent_config.commit_author}\n`);
    const variables = { GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: creator.email };
    expect(await run(`git init -q; ${commit()} >/dev/null; ${show}`, { agent_config, variables })).toMatch(
      /^Ada <ada@/,
    );
  });

  it("names nobody if the run has no person, and not its author", async () => {
    await using plane = await FakeControlPlane.start({ prompt: `\`\`\`sh\ngit init -q; ${commit()}\n\`\`\`\n` });
    await runHarness(plane);
    expect(plane.outputs).toEqual(["Change it\n\n"]);
    const variables = { GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: creator.email };
    expect(await run(`git init -q; ${commit()}`, { variables })).toBe("Change it\n\n");
  });
});

describe("toCoAuthorVariable", () => {
  it.each([
    [{ name: "A <b@c>\nSigned-off-by: x", email: "a@b\r\n>" }, "A  b@c Signed-off-by: x <a@b>"],
    [{ name: " ", email: "a@b" }, "a@b <a@b>"],
  ])("of %j is one line with one address", (person, expected) => {
    expect(toCoAuthorVariable(person)).toEqual({ RUNYARD_CO_AUTHOR: expected });
  });
});
