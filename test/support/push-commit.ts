import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ResponseBody, TestControlPlane } from "./control-plane.ts";
import type { Harness } from "./execution.ts";
import { git } from "./git-server.ts";
import { startServer } from "./http-server.ts";

/** Serves the files of a control plane at the URLs that it returns for them. */
export async function startStorage(plane: TestControlPlane): Promise<{ readonly url: string } & AsyncDisposable> {
  const storage = await startServer((incoming, outgoing) => {
    void outgoing.end(plane.files.files.get(incoming.url?.slice(1) ?? ""));
  });
  plane.files.downloadUrl = async (key) => ({ url: `${storage.url}/${key}`, expiresAt: 0 });
  return storage;
}

/** Packs what a commit of a clone adds to its branch `main`, and pushes it as a harness does. */
export async function pushCommit(
  harness: Harness,
  commit: string,
  clone: string,
  plane: TestControlPlane,
): Promise<ResponseBody> {
  const list = `!printf '%s\\n' ${commit} ^main | git pack-objects --revs --quiet --window=0 --no-reuse-delta .git/made`;
  await git(clone, "config", "alias.made", list);
  const pack = await readFile(join(clone, `.git/made-${await git(clone, "made")}.pack`));
  const request = { commit, size_bytes: pack.length, sha256: createHash("sha256").update(pack).digest("hex") };
  const prepared = await harness.support("push-branch", request);
  if (prepared.body.upload === undefined) return prepared;
  plane.files.files.set(new URL(prepared.body.upload.url).pathname.slice(1), pack);
  return harness.support("push-branch", request);
}
