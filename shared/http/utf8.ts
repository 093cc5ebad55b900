import { RunyardError } from "#shared/errors.ts";

/** Decodes a body. Refuses one that is not UTF-8, because replacement characters would be text that the caller did not send. */
export function decodeUtf8(bytes: Uint8Array | ArrayBuffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new RunyardError("invalid_request", { detail: "body: is not UTF-8", cause: error });
  }
}
