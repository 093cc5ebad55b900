import { createHmac, timingSafeEqual } from "node:crypto";
import * as v from "valibot";
import { invalid } from "#shared/errors.ts";
import { canonicalJson } from "#shared/idempotency/canonical-json.ts";
import { sha256 } from "#shared/ids.ts";
import { keys } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";

const Payload = v.object({ v: v.literal(1), k: v.string(), b: v.string(), a: v.string() });
const SigningItem = v.object({ secret: v.string() });
const KEY_ID = "1";

/** Opaque, tamper-evident positions in a list. A cursor is bound to what it was made for and does not age. */
export function cursors(table: Table) {
  // The key never changes under its id, so it may be kept; no answer depends on how fresh it is.
  let secret: Promise<string> | undefined;
  async function read(): Promise<string> {
    const item = await table.get(keys.signing(KEY_ID));
    if (item === undefined) throw new Error("there is no signing key: run the bootstrap");
    return v.parse(SigningItem, item).secret;
  }
  const mac = async (text: string): Promise<Buffer> => {
    secret ??= read().catch((error: unknown) => {
      secret = undefined;
      throw error;
    });
    return createHmac("sha256", await secret)
      .update(text)
      .digest()
      .subarray(0, 16);
  };

  return {
    /** The cursor that stands behind `after` in the list that `binding` describes. */
    async write(binding: unknown, after: string): Promise<string> {
      const payload: v.InferOutput<typeof Payload> = { v: 1, k: KEY_ID, b: digest(binding), a: after };
      const text = Buffer.from(JSON.stringify(payload)).toString("base64url");
      return `${text}.${(await mac(text)).toString("base64url")}`;
    },
    /** The position of a cursor. Throws `invalid_request` where it is not ours, or was made for another list. */
    async read(binding: unknown, cursor: string): Promise<string> {
      const [text = "", signature = "", ...more] = cursor.split(".");
      // Compared as texts: several texts decode to the same bytes, and only one of them is what was written.
      const given = Buffer.from(more.length === 0 ? signature : "");
      const expected = Buffer.from((await mac(text)).toString("base64url"));
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
        throw invalid("cursor", "is not one of this API's; send next_cursor as it came");
      }
      const payload = v.parse(Payload, JSON.parse(Buffer.from(text, "base64url").toString()));
      if (payload.b !== digest(binding)) {
        throw invalid("cursor", "was made for another query; send it with the same filters and order");
      }
      return payload.a;
    },
  };
}
export type Cursors = ReturnType<typeof cursors>;

const digest = (binding: unknown): string => sha256(canonicalJson(binding)).slice(0, 22);
