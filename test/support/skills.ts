import { expect } from "vitest";
import { type Client, createClient } from "./client.ts";
import { createTestControlPlane, type ResponseBody } from "./control-plane.ts";
import { GithubStandIn, type StandInRepository } from "./github-stand-in.ts";

/** A SKILL.md. */
export const skill = (name: string, description = `Does ${name}`, body = `Do ${name}.`): string =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}\n`;

/** A repository with the skills `release` and `review`, and with files that are not skills. */
export const shop: StandInRepository = {
  files: {
    "README.md": "# Shop",
    ".agents/skills/review/SKILL.md": skill("review"),
    ".claude/skills/release/SKILL.md": skill("release", "Makes a release", "Tag it."),
    ".claude/skills/release/notes/SKILL.md": skill("too deep"),
    "docs/skills/other/SKILL.md": skill("elsewhere"),
  },
  links: { ".codex/skills": "../.agents/skills" },
};

interface Agents {
  readonly body: { readonly agents: readonly { name: string; variants: readonly { id: string; error?: string }[] }[] };
}
/** The names of the skills of a list. */
export const names = ({ body }: Agents): string[] => body.agents.map(({ name }) => name);
/** The ids of all variants of a list. */
export const ids = ({ body }: Agents): string[] => body.agents.flatMap(({ variants }) => variants.map(({ id }) => id));

/** A control plane with a stand-in for GitHub. */
export async function createSkillControlPlane() {
  const plane = await createTestControlPlane();
  const github = await GithubStandIn.start();
  plane.repositories.githubUrl = github.url;
  const user = createClient(plane);
  return {
    plane,
    github,
    user,
    /** The other team's first person. */
    bo: createClient(plane, plane.otherKey),
    onGithub: (name: string, repository: StandInRepository = shop) => void github.repositories.set(name, repository),
    /** A new environment with these repositories. */
    async environment(name: string, repositories: readonly object[], client: Client = user, more: object = {}) {
      return (await client.post("/agent/environments", { name, repositories, ...more })).body;
    },
    /** Returns the list; throws if the response is an error. */
    async list(query = "", client: Client = user): Promise<ResponseBody> {
      const response = await client.get(`/agent${query}`);
      expect(response.status, JSON.stringify(response.body)).toBe(200);
      return response;
    },
    /** The paths that were requested from GitHub. */
    paths: (): string[] => github.seen.map(({ path }) => path),
  };
}
export type SkillControlPlane = Awaited<ReturnType<typeof createSkillControlPlane>>;
