import { RunyardError } from "#shared/errors.ts";

/** The text of a body. A body that is not UTF-8 is refused, because replacement characters would be text that nobody sent. */
export function decodeUtf8(bytes: Uint8Array | ArrayBuffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new RunyardError("invalid_request", { detail: "body: is not UTF-8", cause: error });
  }
}
