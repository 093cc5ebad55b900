import * as v from "valibot";

/** What the caller of a request authenticated with, or what acted for them. */
export const AuditVia = v.picklist(["key", "session", "trigger", "schedule", "service"]);
export type AuditVia = v.InferOutput<typeof AuditVia>;
