import * as v from "valibot";
import { defineTool, type Tool } from "../engine/tool.ts";
import type { SkillEntry } from "../skills/skill-index.ts";

/** Creates the tool that reads a skill on demand. The system prompt already lists names and descriptions. */
export const createLoadSkillTool = (skills: readonly SkillEntry[], load: (id: string) => Promise<string>): Tool =>
  defineTool({
    name: "load_skill",
    description: "Reads one of the skills listed in the system prompt, by its id.",
    category: "skill",
    readsOnly: true,
    parallel: true,
    input: v.object({ id: v.pipe(v.string(), v.nonEmpty()) }),
    async run({ id }) {
      if (!skills.some((skill) => skill.id === id)) throw new Error("there is no such skill: use an id from the list");
      return { output: { id, content: await load(id) } };
    },
  });
