import { toWebUrl } from "#shared/github/web-url.ts";
import { isDescendant, type PackCommits, PackRefusal, readPack } from "./git/pack.ts";
import { buildPush, findRefusal, readAdvertisement } from "./git/protocol.ts";
import { type ApiAccess, SystemFailure } from "./system-api.ts";
import type { PushBranch } from "./system-request.ts";

const NAMES = { github: "GitHub", gitlab: "GitLab" } as const;
const USERS = { github: "x-access-token", gitlab: "oauth2" } as const;

/**
 * Pushes commits of a run to one branch that exists, and to nothing else. No git runs: the pack of the sandbox is checked as bytes, and
 * sent only if it continues the branch, so that the push is never forced. Returns the new commit of the branch.
 * @throws SystemFailure
 * @see https://git-scm.com/docs/http-protocol
 */
export async function pushBranch(request: PushBranch, access: ApiAccess): Promise<string> {
  const { branch, commit } = request;
  const pack = await download(request, access);
  const commits = checkPack(pack);
  if (!commits.has(commit)) throw new SystemFailure("the objects do not contain the commit");
  const ref = `refs/heads/${branch}`;
  const url = `${toWebUrl(access.address)}/${request.repository}.git`;
  const { refs, capabilities } = await readRefs(url, request, access);
  const from = refs.get(ref);
  if (from === undefined) throw new SystemFailure("the branch does not exist any more, and a push does not create it");
  if (from === commit) return commit;
  if (!isDescendant(commit, from, commits)) {
    throw new SystemFailure(
      "the commits do not continue the branch, which others may have changed meanwhile, and a push is never forced: " +
        "fetch the branch, and merge it",
    );
  }
  if (!capabilities.includes("report-status")) throw new SystemFailure("the server does not report what it has done");
  const response = await call(`${url}/git-receive-pack`, request, access, buildPush({ ref, from, to: commit }, pack));
  const refusal = findRefusal(response, ref);
  if (refusal !== undefined) {
    const reason = /^[\w .,()'-]{1,100}$/.test(refusal) ? refusal : "for a reason that cannot be shown";
    throw new SystemFailure(`${NAMES[request.system]} refuses the push: ${reason}`);
  }
  return commit;
}

async function download({ pack_url }: PushBranch, { fetch }: ApiAccess): Promise<Uint8Array> {
  const response = await fetch(pack_url, { headers: { accept: "*/*" } }).catch(() => undefined);
  if (response?.ok !== true) throw new SystemFailure("the objects of the commits cannot be read from the storage");
  return new Uint8Array(await response.arrayBuffer());
}

function checkPack(pack: Uint8Array): PackCommits {
  try {
    return readPack(pack);
  } catch (error) {
    if (error instanceof PackRefusal) throw new SystemFailure(error.message);
    throw error;
  }
}

async function readRefs(url: string, request: PushBranch, access: ApiAccess) {
  const response = await call(`${url}/info/refs?service=git-receive-pack`, request, access);
  const advertisement = readAdvertisement(response);
  if (advertisement === undefined) throw new SystemFailure(`${NAMES[request.system]}'s response is not as documented`);
  return advertisement;
}

async function call(
  url: string,
  { system }: PushBranch,
  { fetch, token }: ApiAccess,
  body?: Uint8Array,
): Promise<Uint8Array> {
  const type = (what: string) => `application/x-git-receive-pack-${what}`;
  const authorization = `Basic ${Buffer.from(`${USERS[system]}:${token}`).toString("base64")}`;
  const response = await fetch(url, {
    ...(body === undefined ? {} : { method: "POST", body }),
    headers: {
      authorization,
      "user-agent": "git/2.0 (Runyard)",
      accept: body === undefined ? "*/*" : type("result"),
      ...(body === undefined ? {} : { "content-type": type("request") }),
    },
  }).catch(() => undefined);
  if (response === undefined) throw new SystemFailure(`${NAMES[system]} does not respond`);
  if ([401, 403, 404].includes(response.status)) {
    throw new SystemFailure(
      `${NAMES[system]} refuses the push with the status ${response.status}: the credential needs the right to write to the repository`,
      response.status,
    );
  }
  if (!response.ok)
    throw new SystemFailure(`${NAMES[system]} responds with the status ${response.status}`, response.status);
  return new Uint8Array(await response.arrayBuffer());
}
