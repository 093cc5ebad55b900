import type { JsonObject } from "./json.ts";

const prompt: JsonObject = { required: ["prompt"], properties: { prompt: { type: "string", pattern: "\\S" } } };

/** Requires a configuration that names a skill. */
const skillIn = (member: string): JsonObject => ({
  required: [member],
  properties: {
    [member]: {
      anyOf: [{ required: ["skill_spec"] }, { required: ["skills"], properties: { skills: { minItems: 1 } } }],
    },
  },
});

const scheduled: JsonObject = { anyOf: [prompt, skillIn("agent_config")] };

/** Rules of the service beyond the schema of a component. */
export const facts: Readonly<Record<string, JsonObject>> = {
  RunAgentRequest: {
    anyOf: [prompt, { required: ["skill"] }, { required: ["conversation_id"] }, skillIn("config")],
    not: { required: ["attachments", "images"] },
  },
  CreateSessionRequest: {
    oneOf: ["key", "token"].map((name) => ({
      required: [name],
      properties: { [name]: { type: "string", minLength: 1 } },
    })),
  },
  ShareRequest: { oneOf: [{ required: ["user_uid"] }, { required: ["link"] }] },
  CreateScheduleRequest: scheduled,
  UpdateScheduleRequest: scheduled,
};
