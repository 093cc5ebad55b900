import { randomUUID } from "node:crypto";
import type { UploadTarget } from "../shared/wire/harness.ts";

type Body = Readonly<Record<string, unknown>>;

/** A token that proves nothing. */
export function issueToken({ audience }: Body): { readonly token: string; readonly expires_at: string } {
  const claims = Buffer.from(JSON.stringify({ aud: audience, nonce: randomUUID() })).toString("base64url");
  return { token: `header.${claims}.signature`, expires_at: new Date().toISOString() };
}

/** Commits that were to be pushed, with their objects. */
export class FakePushes {
  readonly all: { readonly commit: string; readonly pack: Buffer }[] = [];

  /** @param files uploaded bytes by path */
  respond(
    { commit, sha256 }: Body,
    files: ReadonlyMap<string, Buffer>,
    port: number,
  ): { readonly upload?: UploadTarget } {
    const name = `packs/${sha256}`;
    const pack = files.get(name);
    if (pack === undefined) {
      const url = `http://127.0.0.1:${port}/upload/${encodeURIComponent(name)}`;
      return { upload: { url, method: "PUT", headers: null } };
    }
    this.all.push({ commit: String(commit), pack });
    return {};
  }
}
