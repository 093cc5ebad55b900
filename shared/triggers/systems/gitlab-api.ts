import * as v from "valibot";
import { isMarked, toMarker } from "./marker.ts";
import { type ApiAccess, callApi, ignoreMissing, SystemFailure, toPath } from "./system-api.ts";
import type { Place, PutReply } from "./system-request.ts";

/** The role Developer, the first one that can push. */
const DEVELOPER = 30;
/** Notes of one request, and requests of one search. */
const PAGE = 50;
const MAX_PAGES = 20;

const Member = v.object({ access_level: v.number(), state: v.optional(v.string(), "active") });

/**
 * Whether an account may push to a project.
 * @see https://docs.gitlab.com/api/project_members/#get-a-project-member-including-inherited-and-invited-members
 */
export async function hasGitlabAccess(project: string, user: string, access: ApiAccess): Promise<boolean> {
  const path = `/projects/${encodeURIComponent(project)}/members/all/${encodeURIComponent(user)}`;
  const found = await ignoreMissing(callGitlab({ path, schema: Member }, access));
  return found?.state === "active" && found.access_level >= DEVELOPER;
}

/**
 * Adds a reaction. GitLab responds with 404 where the same account has added it before.
 * @see https://docs.gitlab.com/api/emoji_reactions/
 */
export async function reactOnGitlab({ container, item }: Place, access: ApiAccess): Promise<void> {
  const path = `/projects/${encodeURIComponent(container)}/${toPath(item)}/award_emoji`;
  await ignoreMissing(callGitlab({ method: "POST", path, body: { name: "eyes" }, schema: v.unknown() }, access));
}

const Note = v.object({ id: v.number(), body: v.optional(v.nullable(v.string()), ""), created_at: v.string() });

/**
 * Creates the note of a run, or changes it. One that a person has deleted stays deleted.
 * @see https://docs.gitlab.com/api/notes/
 */
export async function putGitlabReply(reply: PutReply, access: ApiAccess): Promise<string> {
  const { container, item } = reply.place;
  const body = { body: `${reply.text}\n\n${toMarker(reply.nonce)}` };
  const notes = `/projects/${encodeURIComponent(container)}/${toPath(item)}/notes`;
  const id = reply.post_id ?? (await findNote(notes, reply, access));
  if (id === undefined) {
    return String((await callGitlab({ method: "POST", path: notes, body, schema: Note }, access)).id);
  }
  const path = `${notes}/${encodeURIComponent(id)}`;
  await ignoreMissing(callGitlab({ method: "PUT", path, body, schema: Note }, access));
  return id;
}

/** Finds the note of a post whose response was lost. */
async function findNote(
  notes: string,
  { posted_since, nonce }: PutReply,
  access: ApiAccess,
): Promise<string | undefined> {
  if (posted_since === undefined) return undefined;
  for (let page = 1; page <= MAX_PAGES; page++) {
    const path = `${notes}?sort=desc&order_by=created_at&per_page=${PAGE}&page=${page}`;
    const found = await callGitlab({ path, schema: v.array(Note) }, access);
    const own = found.find(({ body }) => isMarked(body ?? "") && body?.includes(toMarker(nonce)));
    if (own !== undefined) return String(own.id);
    const isOver = found.length < PAGE || found.some(({ created_at }) => created_at < posted_since);
    if (isOver) return undefined;
  }
  throw new SystemFailure("there are too many notes on GitLab to find the one of this run");
}

interface GitlabCall<T> {
  readonly method?: "POST" | "PUT";
  readonly path: string;
  readonly body?: object;
  readonly schema: v.GenericSchema<unknown, T>;
}

const callGitlab = <T>({ path, ...call }: GitlabCall<T>, { address, token, fetch }: ApiAccess): Promise<T> =>
  callApi({ ...call, url: `${address}${path}`, headers: { "private-token": token }, name: "GitLab" }, fetch);
