import { randomUUID } from "../../support/lazy-crypto.ts";

/** What some APIs accept as the id of a tool call: others refuse longer ones, or ones with other characters. */
const ID_LENGTH = 9;
const MAX_ID_LENGTH = 200;

/** Returns the provider's id of a call, or a new one where it has none or where the conversation has another call of that id. */
export type AssignId = (sent: unknown) => string;

/** Assigns ids that are unique in a conversation; `taken` are those of its calls so far. */
export function createIds(taken: Iterable<string>): AssignId {
  const used = new Set(taken);
  return (sent) => {
    const isUsable = typeof sent === "string" && sent !== "" && sent.length <= MAX_ID_LENGTH && !used.has(sent);
    const id = isUsable ? sent : randomUUID().replaceAll("-", "").slice(-ID_LENGTH);
    used.add(id);
    return id;
  };
}
