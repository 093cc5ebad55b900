import * as v from "valibot";
import { textOfBytes } from "../primitives.ts";

/** A URL that receives events of runs. Its host must be on the internet. */
export const ReceiverUrl = v.pipe(
  textOfBytes(2048, 1),
  v.regex(/^https?:\/\/[^\s/?#@\\]+(?:[/?][^\s#\\]*)?$/, "must be an https URL without credentials and fragment"),
);
