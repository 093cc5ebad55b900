import { ACCOUNT_NOTES } from "./account.ts";
import { ACTIVITY_NOTES } from "./activity.ts";
import type { Notes } from "./note.ts";
import { RUNS_NOTES } from "./runs.ts";

/**
 * What members mean: by the member's name, or by `Component.member` where the same name means something else there. What the
 * comments in shared/wire say of a member comes before what stands here.
 */
export const FIELD_NOTES: Notes = { ...RUNS_NOTES, ...ACTIVITY_NOTES, ...ACCOUNT_NOTES };
