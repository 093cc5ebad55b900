import type { Json } from "../json.ts";

/** Sample ids: the same resource has the same id in all examples. */
export const ids = {
  run: "0199a3c4-7b1e-7c52-9d0e-3f6a8b2c4d5e",
  conversation: "0199a3c4-7b1e-7c52-9d0e-3f6a8b2c4d5e",
  execution: "0199a3c4-9a02-7b10-8c3d-5e7f9a1b2c3d",
  team: "01970f2a-41c6-7e0b-a5d3-9b8c7d6e5f40",
  user: "01970f2a-3d52-7a94-b1e8-2c4d6f8a0b1c",
  identity: "01981b5e-6f70-7d21-9a4c-8e0f2a4c6d8e",
  schedule: "0198c7d0-1e2f-7a3b-8c4d-5e6f7a8b9c0d",
  artifact: "b0b5b7f4-5a0e-8c11-9d63-0a1b2c3d4e5f",
  event: "4f2d6a18-93c7-8b5e-a1f0-6c7d8e9fa0b1",
  key: "3d9f1c70-52b8-8e46-9c0d-7a8b9c0d1e2f",
};
export const person = { type: "user", uid: ids.user, display_name: "Ada Lovelace", email: "ada@example.com" };
/** A sample time. */
export const TIME = "2026-05-18T19:00:00.000Z";

/** Sample values by member, or by `parent.member` or `Component.member` if members of the same name differ. */
export type Samples = Readonly<Record<string, Json>>;
