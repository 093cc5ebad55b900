import * as v from "valibot";
import { AuditVia } from "#shared/wire/audit/via.ts";

/** How a run or a follow-up was created, for its event, which is derived from its record. */
export const RequestOrigin = v.object({
  via: AuditVia,
  key_suffix: v.exactOptional(v.string()),
  /** Absent where no request created it. */
  request_id: v.exactOptional(v.string()),
});
export type RequestOrigin = v.InferOutput<typeof RequestOrigin>;
