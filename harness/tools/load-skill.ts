import * as v from "valibot";
import { defineTool, type Tool } from "../engine/tool.ts";
import type { SkillEntry } from "../skills/skill-index.ts";

/** Reads a skill when the agent wants it: its name and description are in the system prompt already. */
export const createLoadSkillTool = (skills: readonly SkillEntry[], load: (id: string) => Promise<string>): Tool =>
  defineTool({
    name: "load_skill",
    description: "Reads one of the skills that are listed in the system prompt, by its id, whole.",
    category: "skill",
    readsOnly: true,
    input: v.object({ id: v.pipe(v.string(), v.nonEmpty()) }),
    async run({ id }) {
      if (!skills.some((skill) => skill.id === id)) throw new Error("there is no such skill: take an id of the list");
      return { output: { id, content: await load(id) } };
    },
  });
