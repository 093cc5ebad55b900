import { createHmac, timingSafeEqual } from "node:crypto";
import * as v from "valibot";
import { invalid } from "#shared/errors.ts";
import { canonicalJson } from "#shared/idempotency/canonical-json.ts";
import { sha256 } from "#shared/ids.ts";
import type { Table } from "#shared/table/table.ts";
import { readSigningKey } from "./signing-key-store.ts";

const Payload = v.object({ v: v.literal(1), k: v.string(), b: v.string(), a: v.string() });
const KEY_ID = "1";

/** Reads and writes cursors: opaque, signed positions in a list. A cursor is bound to its list and does not expire. */
export function cursors(table: Table) {
  // The key of an id never changes, so it may be cached.
  let secret: Promise<string> | undefined;
  const mac = async (text: string): Promise<Buffer> => {
    secret ??= readSigningKey(KEY_ID, table).catch((error: unknown) => {
      secret = undefined;
      throw error;
    });
    return createHmac("sha256", await secret)
      .update(text)
      .digest()
      .subarray(0, 16);
  };

  return {
    /** Returns the cursor of the position behind `after` in the list that `binding` describes. */
    async write(binding: unknown, after: string): Promise<string> {
      const payload: v.InferOutput<typeof Payload> = { v: 1, k: KEY_ID, b: digest(binding), a: after };
      const text = Buffer.from(JSON.stringify(payload)).toString("base64url");
      return `${text}.${(await mac(text)).toString("base64url")}`;
    },
    /** Returns the position of a cursor. Throws `invalid_request` for a cursor that was tampered with or belongs to another list. */
    async read(binding: unknown, cursor: string): Promise<string> {
      const [text = "", signature = "", ...more] = cursor.split(".");
      // Compared as text: several texts decode to the same bytes, and only one of them was written.
      const actual = Buffer.from(more.length === 0 ? signature : "");
      const expected = Buffer.from((await mac(text)).toString("base64url"));
      if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) {
        throw invalid("cursor", "is not a cursor of this API; send next_cursor unchanged");
      }
      const payload = v.parse(Payload, JSON.parse(Buffer.from(text, "base64url").toString()));
      if (payload.b !== digest(binding)) {
        throw invalid("cursor", "belongs to another query; send it with the same filters and order");
      }
      return payload.a;
    },
  };
}
export type Cursors = ReturnType<typeof cursors>;

const digest = (binding: unknown): string => sha256(canonicalJson(binding)).slice(0, 22);
