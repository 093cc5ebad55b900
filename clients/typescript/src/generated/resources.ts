// Generated from docs/openapi.json and clients/methods.json by `npm run docs`. Do not edit.
import type { RequestOptions } from "../options.ts";
import type { PagePromise } from "../page.ts";
import { path } from "../path.ts";
import type { APIPromise } from "../promise.ts";
import { APIResource } from "../resource.ts";
import type * as types from "./types.ts";

export class IdentitiesKeys extends APIResource {
  /**
   * Creates an API key for an identity.
   *
   * The response contains the key, which is never shown again. The key does not expire unless `expires_at` is set. An
   * identity can have at most 50 keys. Requires a personal key.
   *
   * `POST /agent/identities/{identityUid}/keys`
   */
  create(identityUid: string, body: types.CreateKeyRequest, options?: RequestOptions): APIPromise<types.CreatedKey> {
    return this.transport.request({ method: "POST", path: path`/agent/identities/${identityUid}/keys`, body, options });
  }

  /**
   * Lists the API keys of an identity, without their values.
   *
   * `GET /agent/identities/{identityUid}/keys`
   */
  list(identityUid: string, query?: types.IdentitiesKeysListParams, options?: RequestOptions): PagePromise<types.KeyItem, types.ListKeysResponse> {
    return this.transport.page({ method: "GET", path: path`/agent/identities/${identityUid}/keys`, query, options }, (body: types.ListKeysResponse) => body.keys);
  }

  /**
   * Revokes an API key of an identity.
   *
   * The key is refused from the next request. Requires a personal key.
   *
   * `DELETE /agent/identities/{identityUid}/keys/{keyUid}`
   */
  delete(identityUid: string, keyUid: string, options?: RequestOptions): APIPromise<void> {
    return this.transport.request({ method: "DELETE", path: path`/agent/identities/${identityUid}/keys/${keyUid}`, options });
  }
}

export class IdentitiesTrustRules extends APIResource {
  /**
   * Creates a trust rule of an identity.
   *
   * Tokens of the issuer that match the rule can be exchanged for API keys of the identity. An identity can have at
   * most 20 trust rules. Requires a personal key.
   *
   * `POST /agent/identities/{identityUid}/trust-rules`
   */
  create(identityUid: string, body: types.TrustRuleRequest, options?: RequestOptions): APIPromise<types.TrustRuleItem> {
    return this.transport.request({ method: "POST", path: path`/agent/identities/${identityUid}/trust-rules`, body, options });
  }

  /**
   * Lists the trust rules of an identity, oldest first.
   *
   * `GET /agent/identities/{identityUid}/trust-rules`
   */
  list(identityUid: string, query?: types.IdentitiesTrustRulesListParams, options?: RequestOptions): PagePromise<types.TrustRuleItem, types.ListTrustRulesResponse> {
    return this.transport.page({ method: "GET", path: path`/agent/identities/${identityUid}/trust-rules`, query, options }, (body: types.ListTrustRulesResponse) => body.trust_rules);
  }

  /**
   * Returns a trust rule.
   *
   * `GET /agent/identities/{identityUid}/trust-rules/{ruleUid}`
   */
  retrieve(identityUid: string, ruleUid: string, options?: RequestOptions): APIPromise<types.TrustRuleItem> {
    return this.transport.request({ method: "GET", path: path`/agent/identities/${identityUid}/trust-rules/${ruleUid}`, options });
  }

  /**
   * Replaces a trust rule.
   *
   * Optional members that are absent get their defaults. Keys that the rule gave before are valid until they expire.
   * Requires a personal key.
   *
   * `PUT /agent/identities/{identityUid}/trust-rules/{ruleUid}`
   */
  update(identityUid: string, ruleUid: string, body: types.TrustRuleRequest, options?: RequestOptions): APIPromise<types.TrustRuleItem> {
    return this.transport.request({ method: "PUT", path: path`/agent/identities/${identityUid}/trust-rules/${ruleUid}`, body, options });
  }

  /**
   * Deletes a trust rule.
   *
   * The keys that it gave are refused from the next request. Requires a personal key.
   *
   * `DELETE /agent/identities/{identityUid}/trust-rules/{ruleUid}`
   */
  delete(identityUid: string, ruleUid: string, options?: RequestOptions): APIPromise<void> {
    return this.transport.request({ method: "DELETE", path: path`/agent/identities/${identityUid}/trust-rules/${ruleUid}`, options });
  }
}

export class TeamsMembers extends APIResource {
  /**
   * Lists the members of a team with their roles.
   *
   * Requires the role `admin`.
   *
   * `GET /agent/teams/{teamUid}/members`
   */
  list(teamUid: string, query?: types.TeamsMembersListParams, options?: RequestOptions): PagePromise<types.MemberItem, types.ListMembersResponse> {
    return this.transport.page({ method: "GET", path: path`/agent/teams/${teamUid}/members`, query, options }, (body: types.ListMembersResponse) => body.members);
  }

  /**
   * Changes a member's role.
   *
   * The last admin of a team cannot become a member (409). Requires the role `admin`.
   *
   * `PUT /agent/teams/{teamUid}/members/{userUid}`
   */
  update(teamUid: string, userUid: string, body: types.UpdateMemberRequest, options?: RequestOptions): APIPromise<types.MemberItem> {
    return this.transport.request({ method: "PUT", path: path`/agent/teams/${teamUid}/members/${userUid}`, body, options });
  }

  /**
   * Removes a member from a team.
   *
   * An admin can remove any member, and all members can remove themselves. The last admin of a team cannot be removed
   * (409). Agent keys that the member created are revoked unless an admin sets `keep_keys` to true. Access ends with
   * the next request.
   *
   * `DELETE /agent/teams/{teamUid}/members/{userUid}`
   */
  remove(teamUid: string, userUid: string, query?: types.TeamsMembersRemoveParams, options?: RequestOptions): APIPromise<types.RemovedMember> {
    return this.transport.request({ method: "DELETE", path: path`/agent/teams/${teamUid}/members/${userUid}`, query, options });
  }
}

export class TeamsInvitations extends APIResource {
  /**
   * Creates an invitation to a team and returns its link.
   *
   * The link is returned once, works once and expires after 7 days. A team can have at most 100 open invitations. No
   * email is sent. Requires the role `admin`. The first key of an account that the link creates has at most the scopes
   * of the request's credential.
   *
   * `POST /agent/teams/{teamUid}/invitations`
   */
  create(teamUid: string, body: types.CreateInvitationRequest, options?: RequestOptions): APIPromise<types.CreatedInvitation> {
    return this.transport.request({ method: "POST", path: path`/agent/teams/${teamUid}/invitations`, body, options });
  }

  /**
   * Lists the open invitations of a team, without their links.
   *
   * Requires the role `admin`.
   *
   * `GET /agent/teams/{teamUid}/invitations`
   */
  list(teamUid: string, query?: types.TeamsInvitationsListParams, options?: RequestOptions): PagePromise<types.InvitationItem, types.ListInvitationsResponse> {
    return this.transport.page({ method: "GET", path: path`/agent/teams/${teamUid}/invitations`, query, options }, (body: types.ListInvitationsResponse) => body.invitations);
  }

  /**
   * Revokes an invitation.
   *
   * Its link stops working immediately. Requires the role `admin`.
   *
   * `DELETE /agent/teams/{teamUid}/invitations/{invitationId}`
   */
  delete(teamUid: string, invitationId: string, options?: RequestOptions): APIPromise<void> {
    return this.transport.request({ method: "DELETE", path: path`/agent/teams/${teamUid}/invitations/${invitationId}`, options });
  }
}

export class Runs extends APIResource {
  /**
   * Creates a run and returns its id immediately.
   *
   * The run starts `QUEUED`; read it, list its events or follow it to see its progress. The body must have a `prompt`,
   * a skill or a `conversation_id`. If the team already executes as many runs as its `concurrency_limit` allows, the
   * run waits and `at_capacity` is true; if its `queue_limit` is reached, the response is 429. A caller can create at
   * most 3,000 runs per minute by default. With `wait`, the response is held back up to that many seconds: if the run
   * ends in that time, it is the run, otherwise the usual one. Each end of a run with a `notify_url` is sent there,
   * signed with the `notify_secret` of the response. With `dry_run=true`, the response says whether the run would be
   * created and what to know before, and nothing is created.
   *
   * `POST /agent/runs`
   */
  create(body: types.RunAgentRequest, options?: RequestOptions): APIPromise<types.RunAgentResponse> {
    return this.transport.request({ method: "POST", path: "/agent/runs", body, options });
  }

  /**
   * Checks a request for a run and creates nothing.
   *
   * The response says whether the run would be created, what to know before, and which configuration it would have.
   *
   * `POST /agent/runs`
   */
  dryRun(body: types.RunAgentRequest, options?: RequestOptions): APIPromise<types.DryRunResponse> {
    return this.transport.request({ method: "POST", path: "/agent/runs", query: { dry_run: true }, body, options });
  }

  /**
   * Lists the runs visible to the caller.
   *
   * Filters combine with AND; repeat `state`, `task_status` or `source` to match any of several values. Runs are sorted
   * by `updated_at`, newest first, unless `sort_by` and `sort_order` say otherwise. `prompt` is truncated to 1,000
   * characters; read the run for the full text. A page is never empty while `has_next_page` is true.
   *
   * `GET /agent/runs`
   */
  list(query?: types.RunsListParams, options?: RequestOptions): PagePromise<types.RunItem, types.ListRunsResponse> {
    return this.transport.page({ method: "GET", path: "/agent/runs", query, options }, (body: types.ListRunsResponse) => body.runs);
  }

  /**
   * Cancels all active runs that match a filter.
   *
   * One call processes up to 1,000 runs; while `has_more` is true, send the request again with `next_cursor` as
   * `cursor`. The filter takes the same members as the list of runs and must have at least one. A run that cannot be
   * cancelled is listed in `refused` with its error code and does not fail the request.
   *
   * `POST /agent/runs/cancel`
   */
  cancelMany(body: types.CancelRunsRequest, options?: RequestOptions): APIPromise<types.CancelRunsResponse> {
    return this.transport.request({ method: "POST", path: "/agent/runs/cancel", body, options });
  }

  /**
   * Deletes all ended runs that match a filter.
   *
   * Each is deleted as by `DELETE /agent/runs/{runId}`: with the runs below it, and its files within about an hour. One
   * call looks at up to 200 matching runs; while `page_info.has_next_page` is true, send the request again with
   * `next_cursor` as `cursor`. A run that cannot be deleted is listed in `refused` with its error code and does not
   * fail the request.
   *
   * `POST /agent/runs/delete`
   */
  deleteMany(body: types.MatchingRunsRequest, options?: RequestOptions): APIPromise<types.DeleteRunsResponse> {
    return this.transport.request({ method: "POST", path: "/agent/runs/delete", body, options });
  }

  /**
   * Archives all runs that match a filter.
   *
   * One call looks at up to 200 matching runs; while `page_info.has_next_page` is true, send the request again with
   * `next_cursor` as `cursor`. A run that cannot be archived is listed in `refused` with its error code and does not
   * fail the request.
   *
   * `POST /agent/runs/archive`
   */
  archiveMany(body: types.MatchingRunsRequest, options?: RequestOptions): APIPromise<types.ArchiveRunsResponse> {
    return this.transport.request({ method: "POST", path: "/agent/runs/archive", body, options });
  }

  /**
   * Returns all archived runs that match a filter to the list.
   *
   * One call looks at up to 200 matching runs; while `page_info.has_next_page` is true, send the request again with
   * `next_cursor` as `cursor`. A run that cannot be returned is listed in `refused` with its error code and does not
   * fail the request.
   *
   * `POST /agent/runs/unarchive`
   */
  unarchiveMany(body: types.MatchingRunsRequest, options?: RequestOptions): APIPromise<types.UnarchiveRunsResponse> {
    return this.transport.request({ method: "POST", path: "/agent/runs/unarchive", body, options });
  }

  /**
   * Returns a run with its full prompt, configuration and artifacts.
   *
   * The configuration is the resolved one, with the defaults of the identity, the environment and the team applied.
   * Secret values are shown as `***`.
   *
   * `GET /agent/runs/{runId}`
   */
  retrieve(runId: string, options?: RequestOptions): APIPromise<types.RunItem> {
    return this.transport.request({ method: "GET", path: path`/agent/runs/${runId}`, options });
  }

  /**
   * Deletes a run that has ended.
   *
   * The runs below it and their conversations, transcripts and artifacts are deleted with it. Only the run's creator
   * and the admins of its team may delete it. If the run or a run below it has not ended, the response is 409. Deleted
   * runs return 404 at once; their files are deleted within about an hour. If another run continues the conversation,
   * the conversation keeps the run's turns. Usage reports and budgets still count the run.
   *
   * `DELETE /agent/runs/{runId}`
   */
  delete(runId: string, options?: RequestOptions): APIPromise<void> {
    return this.transport.request({ method: "DELETE", path: path`/agent/runs/${runId}`, options });
  }

  /**
   * Cancels a run and stops its processes.
   *
   * Returns the run's id as a JSON string. A run that has ended returns 400. A run that is executed by a self-hosted
   * worker or by its caller returns 422, and a `PENDING` or `CLAIMED` run returns a retryable 409; `force=true` cancels
   * these as well. The timeline event `run_stopped` shows when the sandbox has stopped.
   *
   * `POST /agent/runs/{runId}/cancel`
   */
  cancel(runId: string, query?: types.RunsCancelParams, options?: RequestOptions): APIPromise<string> {
    return this.transport.request({ method: "POST", path: path`/agent/runs/${runId}/cancel`, query, options });
  }

  /**
   * Archives a run.
   *
   * The list of runs leaves archived runs out unless the filter `archived` asks for them. Everything else about the run
   * stays as it is, and nothing archives a run by itself. Archiving an archived run changes nothing.
   *
   * `POST /agent/runs/{runId}/archive`
   */
  archive(runId: string, options?: RequestOptions): APIPromise<types.RunItem> {
    return this.transport.request({ method: "POST", path: path`/agent/runs/${runId}/archive`, options });
  }

  /**
   * Shares a run with everybody who has its link.
   *
   * A `public_access` of null takes that back. The public view shows the run's conversation and artifacts, and neither
   * the runs below it nor its pending follow-ups. The response has the link, unless the deployment has no web app. If
   * the team's setting `sharing_allowed` is false, the response is 403.
   *
   * `POST /agent/runs/{runId}/share`
   */
  share(runId: string, body: types.ShareRunRequest, options?: RequestOptions): APIPromise<types.ShareRunResponse> {
    return this.transport.request({ method: "POST", path: path`/agent/runs/${runId}/share`, body, options });
  }

  /**
   * Returns an archived run to the list of runs.
   *
   * For a run that is not archived, this changes nothing.
   *
   * `POST /agent/runs/{runId}/unarchive`
   */
  unarchive(runId: string, options?: RequestOptions): APIPromise<types.RunItem> {
    return this.transport.request({ method: "POST", path: path`/agent/runs/${runId}/unarchive`, options });
  }

  /**
   * Interrupts the current turn of a run.
   *
   * The agent's command and model call stop within 10 seconds. The run then waits for a follow-up for
   * `idle_timeout_minutes`, and becomes `BLOCKED` without one; where waiting is billed, it does so at once. A run that
   * has ended returns 400, a run whose harness takes no interrupts returns 422, and a run that has not begun returns a
   * retryable 409. A run that waits for a follow-up stays as it is.
   *
   * `POST /agent/runs/{runId}/interrupt`
   */
  interrupt(runId: string, options?: RequestOptions): APIPromise<types.InterruptRunResponse> {
    return this.transport.request({ method: "POST", path: path`/agent/runs/${runId}/interrupt`, options });
  }

  /**
   * Sends a follow-up message to a run.
   *
   * An active run receives the message before its next turn. A run that has ended returns to `QUEUED`, and a new
   * execution continues the same conversation; the response is 409 if another run of the conversation is active.
   * Messages are delivered in order and exactly once. A run accepts at most 1,000 follow-ups. Attachments are files
   * that were uploaded for this run; the agent gets them with the message. `policy` controls the current turn of the
   * agent. The response has the outcome of the follow-up, and the list of follow-ups shows its state.
   *
   * `POST /agent/runs/{runId}/followups`
   */
  sendFollowup(runId: string, body: types.RunFollowupRequest, options?: RequestOptions): APIPromise<types.RunFollowupResponse> {
    return this.transport.request({ method: "POST", path: path`/agent/runs/${runId}/followups`, body, options });
  }

  /**
   * Lists the follow-ups of a run in the order of their delivery.
   *
   * A follow-up is `pending` until the agent takes it, then `delivered`. Those that a cancel or a request removes while
   * they are pending stay readable as `removed`.
   *
   * `GET /agent/runs/{runId}/followups`
   */
  listFollowups(runId: string, query?: types.RunsListFollowupsParams, options?: RequestOptions): PagePromise<types.FollowupItem, types.ListFollowupsResponse> {
    return this.transport.page({ method: "GET", path: path`/agent/runs/${runId}/followups`, query, options }, (body: types.ListFollowupsResponse) => body.followups);
  }

  /**
   * Replaces the message of a pending follow-up.
   *
   * Returns 409 once the agent has taken the follow-up, and after it was removed.
   *
   * `PUT /agent/runs/{runId}/followups/{followupId}`
   */
  updateFollowup(runId: string, followupId: string, body: types.UpdateFollowupRequest, options?: RequestOptions): APIPromise<types.FollowupItem> {
    return this.transport.request({ method: "PUT", path: path`/agent/runs/${runId}/followups/${followupId}`, body, options });
  }

  /**
   * Removes a pending follow-up, which the agent then never receives.
   *
   * It stays readable as `removed`. Returns 409 once the agent has taken the follow-up, and after it was removed.
   *
   * `DELETE /agent/runs/{runId}/followups/{followupId}`
   */
  deleteFollowup(runId: string, followupId: string, options?: RequestOptions): APIPromise<void> {
    return this.transport.request({ method: "DELETE", path: path`/agent/runs/${runId}/followups/${followupId}`, options });
  }

  /**
   * Promotes a pending follow-up to the agent's next message.
   *
   * Interrupts the current turn for it. Returns 409 once the agent has taken the follow-up, and after it was removed.
   *
   * `POST /agent/runs/{runId}/followups/{followupId}/promote`
   */
  promoteFollowup(runId: string, followupId: string, options?: RequestOptions): APIPromise<types.FollowupItem> {
    return this.transport.request({ method: "POST", path: path`/agent/runs/${runId}/followups/${followupId}/promote`, options });
  }

  /**
   * Lists the timeline events of a run, oldest first.
   *
   * The timeline contains state transitions, setup steps, checkpoints and artifacts, but no messages; use the events of
   * the run for both.
   *
   * `GET /agent/runs/{runId}/timeline`
   */
  timeline(runId: string, query?: types.RunsTimelineParams, options?: RequestOptions): PagePromise<types.TimelineEvent, types.Timeline> {
    return this.transport.page({ method: "GET", path: path`/agent/runs/${runId}/timeline`, query, options }, (body: types.Timeline) => body.events);
  }

  /**
   * Returns the conversation of a run as normalized messages.
   *
   * A `QUEUED` run returns its prompt. Large tool outputs are truncated to 16 KiB; the transcript has the full text. A
   * conversation that a third-party harness stores in its own format returns 422.
   *
   * `GET /agent/runs/{runId}/conversation`
   */
  conversation(runId: string, query?: types.RunsConversationParams, options?: RequestOptions): PagePromise<types.Step, types.Conversation> {
    return this.transport.page({ method: "GET", path: path`/agent/runs/${runId}/conversation`, query, options }, (body: types.Conversation) => body.steps);
  }

  /**
   * Redirects to the raw transcript of a run.
   *
   * The transcript is a JSON Lines file, available shortly after the run has ended; before that, the response is 404,
   * which is retryable once the run has ended. The URL expires after 15 minutes by default and needs no credentials.
   * With `redirect=false` the response is 200 and contains the URL. For a third-party harness, the file has that
   * harness's own format and is available as soon as the harness has uploaded it.
   *
   * `GET /agent/runs/{runId}/transcript`
   */
  transcript(runId: string, options?: RequestOptions): APIPromise<types.DownloadUrl> {
    return this.transport.request({ method: "GET", path: path`/agent/runs/${runId}/transcript`, query: {"redirect":false}, options });
  }

  /**
   * Finds the newest visible run that refers to a URL.
   *
   * It is the URL of the issue, pull request or thread whose event started the run, or of a pull request or external
   * reference among its artifacts, and is compared as it is. What earlier releases have recorded is not found.
   *
   * `GET /agent/run-by-external-reference`
   */
  findByReference(query: types.RunsFindByReferenceParams, options?: RequestOptions): APIPromise<types.RunsFindByReferenceResponse> {
    return this.transport.request({ method: "GET", path: "/agent/run-by-external-reference", query, options });
  }

  /**
   * Lists the snapshot files of the latest ended execution.
   *
   * Each file has a download URL that expires after 15 minutes by default. The list is empty if the run has no
   * snapshot.
   *
   * `GET /agent/runs/{runId}/handoff/attachments`
   */
  handoffAttachments(runId: string, options?: RequestOptions): APIPromise<types.HandoffAttachments> {
    return this.transport.request({ method: "GET", path: path`/agent/runs/${runId}/handoff/attachments`, options });
  }

  /**
   * Lists the events of a run in one gapless sequence.
   *
   * Events are numbered from 1 and contain state transitions, messages and artifacts. Pass `next` of the response as
   * `after` to continue. With `wait`, the request blocks up to that many seconds until there is an event. When `ended`
   * is true, no further events follow unless the run receives a follow-up. With `live`, the response also contains
   * output that is still being produced. With `Accept: text/event-stream`, the response is a stream of events that ends
   * with the run, or after 15 minutes; continue with `Last-Event-ID`. Deployments that cannot stream respond with JSON.
   *
   * `GET /agent/runs/{runId}/events`
   */
  listEvents(runId: string, query?: types.RunsListEventsParams, options?: RequestOptions): APIPromise<types.RunEvents> {
    return this.transport.request({ method: "GET", path: path`/agent/runs/${runId}/events`, query, options });
  }

  /**
   * Returns the agent's final message, the run's state and artifacts.
   *
   * `text` is empty until the agent has written a message and is truncated to 256 KiB. `structured` is the value of a
   * message that fits the run's `output_schema`.
   *
   * `GET /agent/runs/{runId}/response`
   */
  response(runId: string, options?: RequestOptions): APIPromise<types.RunsResponseResponse> {
    return this.transport.request({ method: "GET", path: path`/agent/runs/${runId}/response`, options });
  }

  /**
   * Adds an event to the timeline of the caller's run.
   *
   * Only the key of the run's current execution can call this. A repeated `event_uuid` is stored once. A run stores at
   * most 2,000 of these events.
   *
   * `POST /agent/runs/{runId}/client-events`
   */
  createClientEvent(runId: string, body: types.ClientEvent, options?: RequestOptions): APIPromise<types.Empty> {
    return this.transport.request({ method: "POST", path: path`/agent/runs/${runId}/client-events`, body, options });
  }

  /**
   * Returns a run that is shared publicly.
   *
   * Requires no API key. If `session_sharing` of the run does not set `public_access`, the response is 404, as for an
   * unknown id. The response has no names of people, no configuration. Artifacts that have a content are downloaded by
   * their `artifact_uid`.
   *
   * `GET /public/runs/{sessionId}`
   */
  retrievePublic(sessionId: string, query?: types.RunsRetrievePublicParams, options?: RequestOptions): APIPromise<types.PublicRun> {
    return this.transport.request({ method: "GET", path: path`/public/runs/${sessionId}`, query, options });
  }

  /**
   * Redirects to the content of a public run's artifact.
   *
   * Requires no API key. Browsers save the file instead of showing it. With `redirect=false` the response is 200 and
   * contains the URL. If the run is not shared, or the artifact is another run's or has no content, the response is
   * 404.
   *
   * `GET /public/runs/{sessionId}/artifacts/{artifactUid}`
   */
  downloadPublicArtifact(sessionId: string, artifactUid: string, query?: types.RunsDownloadPublicArtifactParams, options?: RequestOptions): APIPromise<types.DownloadUrl> {
    return this.transport.request({ method: "GET", path: path`/public/runs/${sessionId}/artifacts/${artifactUid}`, query, options });
  }

  /**
   * Creates upload URLs for the files of a follow-up.
   *
   * Each has up to 100 MiB. Upload each file to its `upload_url` within 10 minutes by a PUT with its `Content-Type`,
   * then name its `attachment_id` in a follow-up of this run. Attachments expire after 24 hours.
   *
   * `POST /agent/runs/{runId}/attachments/prepare`
   */
  prepareAttachments(runId: string, body: types.PrepareAttachmentsRequest, options?: RequestOptions): APIPromise<types.PrepareAttachmentsResponse> {
    return this.transport.request({ method: "POST", path: path`/agent/runs/${runId}/attachments/prepare`, body, options });
  }

  /**
   * Creates download URLs for attachments of a run and of its follow-ups.
   *
   * Returns 404 if one of them is not an attachment of this run.
   *
   * `POST /agent/runs/{runId}/attachments/download`
   */
  downloadAttachments(runId: string, body: types.DownloadAttachmentsRequest, options?: RequestOptions): APIPromise<types.DownloadAttachmentsResponse> {
    return this.transport.request({ method: "POST", path: path`/agent/runs/${runId}/attachments/download`, body, options });
  }
}

export class Audit extends APIResource {
  /**
   * Lists the team's audit log, newest first.
   *
   * It has one event for each request that changed something, and for each refused one. `from` is inclusive and `to`
   * exclusive. `action` is an action such as `keys.delete`, or its beginning, such as `keys`; `actor` and `target` are
   * uids. Events are kept for 400 days. Requires the role `admin`.
   *
   * `GET /agent/audit`
   */
  list(query?: types.AuditListParams, options?: RequestOptions): PagePromise<types.AuditEvent, types.ListAuditEventsResponse> {
    return this.transport.page({ method: "GET", path: "/agent/audit", query, options }, (body: types.ListAuditEventsResponse) => body.events);
  }
}

export class Usage extends APIResource {
  /**
   * Returns the usage of the caller's ended runs, in buckets.
   *
   * A run counts on the UTC day on which it was created, from its end on; runs that are still active do not count. The
   * report covers the runs that the caller sees in lists, and 400 days at most.
   *
   * `GET /agent/usage`
   */
  retrieve(query?: types.UsageRetrieveParams, options?: RequestOptions): APIPromise<types.UsageReport> {
    return this.transport.request({ method: "GET", path: "/agent/usage", query, options });
  }
}

export class Conversations extends APIResource {
  /**
   * Returns all runs of a conversation as one, oldest first.
   *
   * Runs that the caller may not see are left out. Large tool outputs are truncated to 16 KiB. If a third-party harness
   * stores a run in its own format, the response is 422.
   *
   * `GET /agent/conversations/{conversationId}`
   */
  retrieve(conversationId: string, query?: types.ConversationsRetrieveParams, options?: RequestOptions): PagePromise<types.Step, types.Conversation> {
    return this.transport.page({ method: "GET", path: path`/agent/conversations/${conversationId}`, query, options }, (body: types.Conversation) => body.steps);
  }

  /**
   * Redirects to the raw transcript of a conversation's latest run.
   *
   * The transcript is a JSON Lines file, available shortly after the run has ended; before that, the response is 404.
   * With `redirect=false` the response is 200 and contains the URL.
   *
   * `GET /agent/conversations/{conversationId}/transcript`
   */
  transcript(conversationId: string, query?: types.ConversationsTranscriptParams, options?: RequestOptions): APIPromise<types.DownloadUrl> {
    return this.transport.request({ method: "GET", path: path`/agent/conversations/${conversationId}/transcript`, query, options });
  }

  /**
   * Interrupts the current turn of a conversation's latest run.
   *
   * Follows the rules of an interrupt of that run. The response names the run.
   *
   * `POST /agent/conversations/{conversationId}/interrupt`
   */
  interrupt(conversationId: string, options?: RequestOptions): APIPromise<types.InterruptRunResponse> {
    return this.transport.request({ method: "POST", path: path`/agent/conversations/${conversationId}/interrupt`, options });
  }

  /**
   * Sends a follow-up message to the latest run of a conversation.
   *
   * Follows the rules of a follow-up to that run. The response names the run.
   *
   * `POST /agent/conversations/{conversationId}/followups`
   */
  sendFollowup(conversationId: string, body: types.RunFollowupRequest, options?: RequestOptions): APIPromise<types.RunFollowupResponse> {
    return this.transport.request({ method: "POST", path: path`/agent/conversations/${conversationId}/followups`, body, options });
  }

  /**
   * Returns the latest public session of a conversation.
   *
   * Requires no API key. If no session of the conversation is shared publicly, the response is 404, as for an unknown
   * id.
   *
   * `GET /agent/conversations/{conversationId}/redirect`
   */
  redirect(conversationId: string, options?: RequestOptions): APIPromise<types.ConversationRedirect> {
    return this.transport.request({ method: "GET", path: path`/agent/conversations/${conversationId}/redirect`, options });
  }

  /**
   * Creates upload URLs for the files of a conversation's follow-up.
   *
   * Follows the rules of attachments for its latest run.
   *
   * `POST /agent/conversations/{conversationId}/attachments/prepare`
   */
  prepareAttachments(conversationId: string, body: types.PrepareAttachmentsRequest, options?: RequestOptions): APIPromise<types.PrepareAttachmentsResponse> {
    return this.transport.request({ method: "POST", path: path`/agent/conversations/${conversationId}/attachments/prepare`, body, options });
  }
}

export class Sessions extends APIResource {
  /**
   * Returns the conversation of a public session.
   *
   * Requires no API key. If the session is not shared publicly, the response is 404, as for an unknown id.
   *
   * `GET /agent/sessions/{sessionId}/redirect`
   */
  redirect(sessionId: string, options?: RequestOptions): APIPromise<types.SessionRedirect> {
    return this.transport.request({ method: "GET", path: path`/agent/sessions/${sessionId}/redirect`, options });
  }
}

export class Attachments extends APIResource {
  /**
   * Creates an upload URL for an attachment of up to 100 MiB.
   *
   * Upload the bytes to `upload` within 10 minutes, then pass `attachment_id` when you create a run. The file must have
   * the given size and SHA-256 digest. Attachments expire after 24 hours.
   *
   * `POST /agent/attachments`
   */
  create(body: types.CreateAttachmentRequest, options?: RequestOptions): APIPromise<types.CreateAttachmentResponse> {
    return this.transport.request({ method: "POST", path: "/agent/attachments", body, options });
  }
}

export class Artifacts extends APIResource {
  /**
   * Returns an artifact with its content or a download URL.
   *
   * A plan is returned inline as Markdown; a file or a screenshot has a download URL that expires after 15 minutes by
   * default. Pull requests and external references have no content and return 404.
   *
   * `GET /agent/artifacts/{artifactUid}`
   */
  retrieve(artifactUid: string, options?: RequestOptions): APIPromise<types.ArtifactResponse> {
    return this.transport.request({ method: "GET", path: path`/agent/artifacts/${artifactUid}`, options });
  }

  /**
   * Redirects to the content of an artifact.
   *
   * That is a file, a screenshot, or the Markdown of a plan. The URL expires after 15 minutes by default and needs no
   * credentials. With `redirect=false` the response is 200 and contains the URL. Pull requests and external references
   * have no content and return 404.
   *
   * `GET /agent/artifacts/{artifactUid}/download`
   */
  downloadUrl(artifactUid: string, query?: types.ArtifactsDownloadUrlParams, options?: RequestOptions): APIPromise<types.DownloadUrl> {
    return this.transport.request({ method: "GET", path: path`/agent/artifacts/${artifactUid}/download`, query, options });
  }
}

export class Agents extends APIResource {
  /**
   * Lists the skills in the repositories of the caller's environments.
   *
   * With `repo`, only the skills of that repository are listed. Results are cached for 10 minutes; `refresh=true` reads
   * the repositories again, and the header `Age` gives the age of the oldest cached result in seconds. Repositories
   * that cannot be read are listed in `unavailable`. More than 100 repositories return 400; use `repo` then.
   *
   * `GET /agent`
   */
  list(query?: types.AgentsListParams, options?: RequestOptions): PagePromise<types.AgentItem, types.ListAgentsResponse> {
    return this.transport.page({ method: "GET", path: "/agent", query, options }, (body: types.ListAgentsResponse) => body.agents);
  }
}

export class Workers extends APIResource {
  /**
   * Lists the connected self-hosted workers of the caller's teams.
   *
   * Workers are sorted by id. Connections that share an id are one worker.
   *
   * `GET /agent/connected-self-hosted-workers`
   */
  list(query?: types.WorkersListParams, options?: RequestOptions): PagePromise<types.WorkerItem, types.ListWorkersResponse> {
    return this.transport.page({ method: "GET", path: "/agent/connected-self-hosted-workers", query, options }, (body: types.ListWorkersResponse) => body.workers);
  }
}

export class Models extends APIResource {
  /**
   * Lists the available models and the default model.
   *
   * `default_model_id` is the model of runs that set none: the team's setting, or else the deployment's default. A
   * model with a `disable_reason` cannot be used at the moment.
   *
   * `GET /agent/models`
   */
  list(options?: RequestOptions): APIPromise<types.ModelsResponse> {
    return this.transport.request({ method: "GET", path: "/agent/models", options });
  }
}

export class Schedules extends APIResource {
  /**
   * Creates a schedule that runs a prompt by cron.
   *
   * The body must have a `prompt`, unless `agent_config` names a skill. The schedule is enabled and reads its cron
   * expression in UTC unless the body says otherwise. A team or a person can have at most 500 schedules.
   *
   * `POST /agent/schedules`
   */
  create(body: types.CreateScheduleRequest, options?: RequestOptions): APIPromise<types.ScheduleItem> {
    return this.transport.request({ method: "POST", path: "/agent/schedules", body, options });
  }

  /**
   * Lists the schedules visible to the caller, sorted by name.
   *
   * `GET /agent/schedules`
   */
  list(query?: types.SchedulesListParams, options?: RequestOptions): PagePromise<types.ScheduleItem, types.ListSchedulesResponse> {
    return this.transport.page({ method: "GET", path: "/agent/schedules", query, options }, (body: types.ListSchedulesResponse) => body.schedules);
  }

  /**
   * Returns a schedule with its next firing and recent runs.
   *
   * `recent_runs` contains up to 10 runs; list the runs by `schedule_id` for all of them.
   *
   * `GET /agent/schedules/{scheduleId}`
   */
  retrieve(scheduleId: string, options?: RequestOptions): APIPromise<types.ScheduleItem> {
    return this.transport.request({ method: "GET", path: path`/agent/schedules/${scheduleId}`, options });
  }

  /**
   * Replaces a schedule.
   *
   * `name`, `cron_schedule`, `enabled` and, without a skill, `prompt` are required. Optional members that are absent
   * keep their values. Runs that the schedule has created are not changed.
   *
   * `PUT /agent/schedules/{scheduleId}`
   */
  update(scheduleId: string, body: types.UpdateScheduleRequest, options?: RequestOptions): APIPromise<types.ScheduleItem> {
    return this.transport.request({ method: "PUT", path: path`/agent/schedules/${scheduleId}`, body, options });
  }

  /**
   * Deletes a schedule.
   *
   * Runs that the schedule has created remain and are still found by its `schedule_id`. Deleting the schedule again
   * returns 404.
   *
   * `DELETE /agent/schedules/{scheduleId}`
   */
  delete(scheduleId: string, options?: RequestOptions): APIPromise<types.DeleteScheduleResponse> {
    return this.transport.request({ method: "DELETE", path: path`/agent/schedules/${scheduleId}`, options });
  }

  /**
   * Pauses a schedule until it is resumed.
   *
   * Pausing a paused schedule changes nothing. Active runs continue.
   *
   * `POST /agent/schedules/{scheduleId}/pause`
   */
  pause(scheduleId: string, options?: RequestOptions): APIPromise<types.ScheduleItem> {
    return this.transport.request({ method: "POST", path: path`/agent/schedules/${scheduleId}/pause`, options });
  }

  /**
   * Resumes a paused schedule from its next firing.
   *
   * Firings that were missed during the pause are not made up. Resuming an enabled schedule changes nothing.
   *
   * `POST /agent/schedules/{scheduleId}/resume`
   */
  resume(scheduleId: string, options?: RequestOptions): APIPromise<types.ScheduleItem> {
    return this.transport.request({ method: "POST", path: path`/agent/schedules/${scheduleId}/resume`, options });
  }

  /**
   * Creates a run from a schedule immediately.
   *
   * The run has the schedule's prompt and configuration, in addition to planned firings, and adds no tick. Works for
   * paused schedules too.
   *
   * `POST /agent/schedules/{scheduleId}/run`
   */
  run(scheduleId: string, options?: RequestOptions): APIPromise<types.RunAgentResponse> {
    return this.transport.request({ method: "POST", path: path`/agent/schedules/${scheduleId}/run`, options });
  }

  /**
   * Lists the outcomes of planned firings, newest first.
   *
   * Each planned firing has exactly one outcome, kept for 90 days.
   *
   * `GET /agent/schedules/{scheduleId}/ticks`
   */
  ticks(scheduleId: string, query?: types.SchedulesTicksParams, options?: RequestOptions): PagePromise<types.ListTicksResponse["ticks"][number], types.ListTicksResponse> {
    return this.transport.page({ method: "GET", path: path`/agent/schedules/${scheduleId}/ticks`, query, options }, (body: types.ListTicksResponse) => body.ticks);
  }
}

export class Github extends APIResource {
  /**
   * Starts the claim of an installation of the GitHub App.
   *
   * GitHub redirects to the web app, with a `state`, a `code` and the `installation_id`, for POST
   * /agent/github/installations. The claim must be complete within an hour. Requires the role `admin`.
   *
   * `POST /agent/github/claims`
   */
  beginClaim(options?: RequestOptions): APIPromise<types.InstallationClaim> {
    return this.transport.request({ method: "POST", path: "/agent/github/claims", options });
  }

  /**
   * Adds an installation of the GitHub App to the team.
   *
   * No other team can use it. The `code` must be of an owner of the account on which the App is installed. Returns 409
   * if a team has claimed the installation. Requires the role `admin`, and the person who started the claim.
   *
   * `POST /agent/github/installations`
   */
  claim(body: types.ClaimInstallationRequest, options?: RequestOptions): APIPromise<types.InstallationItem> {
    return this.transport.request({ method: "POST", path: "/agent/github/installations", body, options });
  }

  /**
   * Lists the team's installations of the GitHub App.
   *
   * Requires the role `admin`.
   *
   * `GET /agent/github/installations`
   */
  installations(query?: types.GithubInstallationsParams, options?: RequestOptions): PagePromise<types.InstallationItem, types.ListInstallationsResponse> {
    return this.transport.page({ method: "GET", path: "/agent/github/installations", query, options }, (body: types.ListInstallationsResponse) => body.installations);
  }

  /**
   * Removes an installation of the GitHub App from the team.
   *
   * The App stays installed on GitHub. Requires the role `admin`.
   *
   * `DELETE /agent/github/installations/{installationId}`
   */
  release(installationId: string, options?: RequestOptions): APIPromise<void> {
    return this.transport.request({ method: "DELETE", path: path`/agent/github/installations/${installationId}`, options });
  }
}

export class Triggers extends APIResource {
  /**
   * Creates a trigger, which turns events of another system into runs.
   *
   * The response contains the secret, which is never shown again, and the URL for the other system. A team or a person
   * can have at most 50 triggers. Requires the role `admin`, unless the trigger is personal.
   *
   * `POST /agent/triggers`
   */
  create(body: types.CreateTriggerRequest, options?: RequestOptions): APIPromise<types.CreatedTrigger> {
    return this.transport.request({ method: "POST", path: "/agent/triggers", body, options });
  }

  /**
   * Lists the triggers that the caller manages, oldest first.
   *
   * These are the triggers of teams, for which the role `admin` is required, and then the personal ones.
   *
   * `GET /agent/triggers`
   */
  list(query?: types.TriggersListParams, options?: RequestOptions): PagePromise<types.TriggerItem, types.ListTriggersResponse> {
    return this.transport.page({ method: "GET", path: "/agent/triggers", query, options }, (body: types.ListTriggersResponse) => body.triggers);
  }

  /**
   * Returns a trigger with its outcomes of a day.
   *
   * Requires the role `admin`, unless the trigger is personal.
   *
   * `GET /agent/triggers/{triggerUid}`
   */
  retrieve(triggerUid: string, options?: RequestOptions): APIPromise<types.TriggerItem> {
    return this.transport.request({ method: "GET", path: path`/agent/triggers/${triggerUid}`, options });
  }

  /**
   * Updates a trigger.
   *
   * Absent members keep their values; an empty value (`""`, `[]` or `{}`) clears one. Deliveries to a disabled trigger
   * are recorded and start no run. Requires the role `admin`, unless the trigger is personal.
   *
   * `PUT /agent/triggers/{triggerUid}`
   */
  update(triggerUid: string, body: types.UpdateTriggerRequest, options?: RequestOptions): APIPromise<types.TriggerItem> {
    return this.transport.request({ method: "PUT", path: path`/agent/triggers/${triggerUid}`, body, options });
  }

  /**
   * Deletes a trigger with its secret.
   *
   * Its runs continue. Requires the role `admin`, unless the trigger is personal.
   *
   * `DELETE /agent/triggers/{triggerUid}`
   */
  delete(triggerUid: string, options?: RequestOptions): APIPromise<void> {
    return this.transport.request({ method: "DELETE", path: path`/agent/triggers/${triggerUid}`, options });
  }

  /**
   * Pauses a trigger until it is resumed.
   *
   * Its deliveries are recorded and start no run. Pausing a paused trigger changes nothing. Requires the role `admin`,
   * unless the trigger is personal.
   *
   * `POST /agent/triggers/{triggerUid}/pause`
   */
  pause(triggerUid: string, options?: RequestOptions): APIPromise<types.TriggerItem> {
    return this.transport.request({ method: "POST", path: path`/agent/triggers/${triggerUid}/pause`, options });
  }

  /**
   * Resumes a paused trigger.
   *
   * Events that were delivered meanwhile start runs only if they are delivered again. Resuming an enabled trigger
   * changes nothing. Requires the role `admin`, unless the trigger is personal.
   *
   * `POST /agent/triggers/{triggerUid}/resume`
   */
  resume(triggerUid: string, options?: RequestOptions): APIPromise<types.TriggerItem> {
    return this.transport.request({ method: "POST", path: path`/agent/triggers/${triggerUid}/resume`, options });
  }

  /**
   * Replaces the secret of a trigger.
   *
   * The response contains the new secret, which is never shown again. Requests are accepted by both secrets for 24
   * hours; rotating again ends the older one at once. Requires the role `admin`, unless the trigger is personal.
   *
   * `POST /agent/triggers/{triggerUid}/rotate-secret`
   */
  rotateSecret(triggerUid: string, body: types.RotateTriggerSecretRequest, options?: RequestOptions): APIPromise<types.RotatedTrigger> {
    return this.transport.request({ method: "POST", path: path`/agent/triggers/${triggerUid}/rotate-secret`, body, options });
  }

  /**
   * Reports what an event would result in.
   *
   * The response contains the prompt of its run. Nothing is created, and no signature is needed. Requires the role
   * `admin`, unless the trigger is personal.
   *
   * `POST /agent/triggers/{triggerUid}/test`
   */
  test(triggerUid: string, body: types.TestTriggerRequest, options?: RequestOptions): APIPromise<types.TestTriggerResponse> {
    return this.transport.request({ method: "POST", path: path`/agent/triggers/${triggerUid}/test`, body, options });
  }

  /**
   * Lists the deliveries to a trigger with their outcomes, newest first.
   *
   * Deliveries are kept for 30 days. Requires the role `admin`, unless the trigger is personal.
   *
   * `GET /agent/triggers/{triggerUid}/deliveries`
   */
  deliveries(triggerUid: string, query?: types.TriggersDeliveriesParams, options?: RequestOptions): PagePromise<types.TriggerDelivery, types.ListTriggerDeliveriesResponse> {
    return this.transport.page({ method: "GET", path: path`/agent/triggers/${triggerUid}/deliveries`, query, options }, (body: types.ListTriggerDeliveriesResponse) => body.deliveries);
  }

  /**
   * Returns a delivery to a trigger with its payload.
   *
   * Requires the role `admin`, or to have created the trigger.
   *
   * `GET /agent/triggers/{triggerUid}/deliveries/{deliveryId}`
   */
  retrieveDelivery(triggerUid: string, deliveryId: string, options?: RequestOptions): APIPromise<types.TriggerDeliveryDetails> {
    return this.transport.request({ method: "GET", path: path`/agent/triggers/${triggerUid}/deliveries/${deliveryId}`, options });
  }

  /**
   * Sends the event of a delivery to its trigger again.
   *
   * The trigger decides after the response, as it is then. The new delivery has an outcome of its own, and the earlier
   * one keeps its outcome. Requires the role `admin`, unless the trigger is personal.
   *
   * `POST /agent/triggers/{triggerUid}/deliveries/{deliveryId}/redeliver`
   */
  redeliver(triggerUid: string, deliveryId: string, options?: RequestOptions): APIPromise<types.TriggerDelivery> {
    return this.transport.request({ method: "POST", path: path`/agent/triggers/${triggerUid}/deliveries/${deliveryId}/redeliver`, options });
  }

  /**
   * Accepts an event of the deployment's GitHub App.
   *
   * The triggers of the kind `github` of the team that has claimed the installation get a delivery each. GitHub signs
   * the request with the secret of the App's webhook.
   *
   * `POST /hooks/github-app`
   */
  receiveAppEvent(options?: RequestOptions): APIPromise<types.ReceivedDelivery> {
    return this.transport.request({ method: "POST", path: "/hooks/github-app", options });
  }

  /**
   * Accepts an event for a trigger.
   *
   * The sender signs the request as the trigger's kind or verification requires. The question that Slack asks about a
   * new URL gets its `challenge`. The event is decided on afterwards.
   *
   * `POST /hooks/{triggerUid}`
   */
  receive(triggerUid: string, options?: RequestOptions): APIPromise<types.ReceivedDelivery> {
    return this.transport.request({ method: "POST", path: path`/hooks/${triggerUid}`, options });
  }
}

export class Identities extends APIResource {
  readonly keys = new IdentitiesKeys(this.transport);
  readonly trustRules = new IdentitiesTrustRules(this.transport);

  /**
   * Creates an identity, a service account for an agent.
   *
   * The optional members are defaults for the runs of the identity. Names are unique within the team; a name in use
   * returns 409. A team that has reached its `identity_limit` receives 403 `feature_not_available`. Requires a personal
   * key.
   *
   * `POST /agent/identities`
   */
  create(body: types.CreateIdentityRequest, options?: RequestOptions): APIPromise<types.IdentityItem> {
    return this.transport.request({ method: "POST", path: "/agent/identities", body, options });
  }

  /**
   * Lists the identities of the caller's teams, oldest first.
   *
   * `GET /agent/identities`
   */
  list(query?: types.IdentitiesListParams, options?: RequestOptions): PagePromise<types.IdentityItem, types.ListIdentitiesResponse> {
    return this.transport.page({ method: "GET", path: "/agent/identities", query, options }, (body: types.ListIdentitiesResponse) => body.agents);
  }

  /**
   * Returns an identity with its defaults for runs.
   *
   * `GET /agent/identities/{identityUid}`
   */
  retrieve(identityUid: string, options?: RequestOptions): APIPromise<types.IdentityItem> {
    return this.transport.request({ method: "GET", path: path`/agent/identities/${identityUid}`, options });
  }

  /**
   * Updates an identity.
   *
   * Members that are absent or null keep their values; an empty value (`""`, `[]` or `{}`) clears one. An identity that
   * is not `available` returns 403. Requires a personal key.
   *
   * `PUT /agent/identities/{identityUid}`
   */
  update(identityUid: string, body: types.UpdateIdentityRequest, options?: RequestOptions): APIPromise<types.IdentityItem> {
    return this.transport.request({ method: "PUT", path: path`/agent/identities/${identityUid}`, body, options });
  }

  /**
   * Deletes an identity and revokes all its keys.
   *
   * Its runs that have not started fail with `not_authorized`, runs in progress finish, and its schedules and triggers
   * are paused. The team's default identity cannot be deleted (400). Requires a personal key.
   *
   * `DELETE /agent/identities/{identityUid}`
   */
  delete(identityUid: string, options?: RequestOptions): APIPromise<void> {
    return this.transport.request({ method: "DELETE", path: path`/agent/identities/${identityUid}`, options });
  }
}

export class Token extends APIResource {
  /**
   * Exchanges an OIDC token for an API key of an identity.
   *
   * The token may be that of a GitHub Actions job, for example. A trust rule of the identity must match the token's
   * `iss`, `aud` and `sub` claims; otherwise the response is 403 and names the claim. The key expires after the rule's
   * `ttl_seconds`. Requires no API key.
   *
   * `POST /agent/token`
   */
  create(body: types.TokenRequest, options?: RequestOptions): APIPromise<types.TokenResponse> {
    return this.transport.request({ method: "POST", path: "/agent/token", body, options });
  }
}

export class Environments extends APIResource {
  /**
   * Creates an environment of repositories, setup commands and secrets.
   *
   * The caller's team owns it unless `team` is false. Names are unique within the team or the person; a name in use
   * returns 409. A team or a person can have at most 200 environments, each up to 64 KiB as JSON.
   *
   * `POST /agent/environments`
   */
  create(body: types.CreateEnvironmentRequest, options?: RequestOptions): APIPromise<types.EnvironmentItem> {
    return this.transport.request({ method: "POST", path: "/agent/environments", body, options });
  }

  /**
   * Lists the environments visible to the caller.
   *
   * These are the environments that the caller or a team owns, that are shared with the caller, and the one that `link`
   * grants access to. The latest change comes first unless `sort_by` is `name`.
   *
   * `GET /agent/environments`
   */
  list(query?: types.EnvironmentsListParams, options?: RequestOptions): PagePromise<types.EnvironmentItem, types.ListEnvironmentsResponse> {
    return this.transport.page({ method: "GET", path: "/agent/environments", query, options }, (body: types.ListEnvironmentsResponse) => body.environments);
  }

  /**
   * Returns an environment.
   *
   * With the token of its shared `link`, every caller with an API key can read it, without the details of its latest
   * run.
   *
   * `GET /agent/environments/{environmentUid}`
   */
  retrieve(environmentUid: string, query?: types.EnvironmentsRetrieveParams, options?: RequestOptions): APIPromise<types.EnvironmentItem> {
    return this.transport.request({ method: "GET", path: path`/agent/environments/${environmentUid}`, query, options });
  }

  /**
   * Updates an environment.
   *
   * Members that are absent or null keep their values; an empty value (`""` or `[]`) clears one. Runs that have started
   * keep the previous environment.
   *
   * `PUT /agent/environments/{environmentUid}`
   */
  update(environmentUid: string, body: types.UpdateEnvironmentRequest, options?: RequestOptions): APIPromise<types.EnvironmentItem> {
    return this.transport.request({ method: "PUT", path: path`/agent/environments/${environmentUid}`, body, options });
  }

  /**
   * Deletes an environment.
   *
   * Schedules and identities that refer to it create no runs until they name another environment.
   *
   * `DELETE /agent/environments/{environmentUid}`
   */
  delete(environmentUid: string, options?: RequestOptions): APIPromise<void> {
    return this.transport.request({ method: "DELETE", path: path`/agent/environments/${environmentUid}`, options });
  }

  /**
   * Shares an environment with a person or by link.
   *
   * A person can list the environment and use it for runs; the limit is 50 people. A link only shows the environment.
   * Its URL is returned once and replaces any earlier link.
   *
   * `POST /agent/environments/{environmentUid}/share`
   */
  share(environmentUid: string, body: types.ShareRequest, options?: RequestOptions): APIPromise<types.ShareResponse> {
    return this.transport.request({ method: "POST", path: path`/agent/environments/${environmentUid}/share`, body, options });
  }

  /**
   * Stops sharing an environment with a person or by link.
   *
   * Revoking a share that does not exist changes nothing.
   *
   * `DELETE /agent/environments/{environmentUid}/share`
   */
  unshare(environmentUid: string, body: types.ShareRequest, options?: RequestOptions): APIPromise<types.ShareResponse> {
    return this.transport.request({ method: "DELETE", path: path`/agent/environments/${environmentUid}/share`, body, options });
  }

  /**
   * Creates a run that only sets up the environment.
   *
   * It clones the repositories and runs the setup commands, calls no model, and then ends. The result is in the run's
   * timeline and in `setup_failed` of the environment. On a machine with bubblewrap, it becomes the environment's
   * `setup_snapshot`, with which later runs start.
   *
   * `POST /agent/environments/{environmentUid}/try`
   */
  tryOut(environmentUid: string, options?: RequestOptions): APIPromise<types.RunAgentResponse> {
    return this.transport.request({ method: "POST", path: path`/agent/environments/${environmentUid}/try`, options });
  }
}

export class Keys extends APIResource {
  /**
   * Creates a personal API key.
   *
   * The response contains the key, which is never shown again. The key does not expire unless `expires_at` is set. A
   * person can have at most 50 keys.
   *
   * `POST /agent/keys`
   */
  create(body: types.CreateKeyRequest, options?: RequestOptions): APIPromise<types.CreatedKey> {
    return this.transport.request({ method: "POST", path: "/agent/keys", body, options });
  }

  /**
   * Lists the caller's API keys, without their values.
   *
   * `GET /agent/keys`
   */
  list(query?: types.KeysListParams, options?: RequestOptions): PagePromise<types.KeyItem, types.ListKeysResponse> {
    return this.transport.page({ method: "GET", path: "/agent/keys", query, options }, (body: types.ListKeysResponse) => body.keys);
  }

  /**
   * Revokes one of the caller's API keys.
   *
   * The key is refused from the next request. The key of the request itself can be revoked too.
   *
   * `DELETE /agent/keys/{keyUid}`
   */
  delete(keyUid: string, options?: RequestOptions): APIPromise<void> {
    return this.transport.request({ method: "DELETE", path: path`/agent/keys/${keyUid}`, options });
  }
}

export class WebSessions extends APIResource {
  /**
   * Creates a web session.
   *
   * Requires no API key in a header: the body has a personal API key or a one-time token. The response sets an HttpOnly
   * cookie that authenticates later requests of the same browser. A session ends after 12 hours without use and after 7
   * days at most. A person has at most 50 sessions: a new one replaces the session that was not used for the longest
   * time. Requests that change something and are authenticated by the cookie need an `Origin` header of the deployment,
   * as browsers send it.
   *
   * `POST /session`
   */
  create(body: types.CreateSessionRequest, options?: RequestOptions): APIPromise<void> {
    return this.transport.request({ method: "POST", path: "/session", body, options });
  }

  /**
   * Returns the caller, the caller's teams, and when the web session ends.
   *
   * Does not extend the session.
   *
   * `GET /session`
   */
  retrieve(options?: RequestOptions): APIPromise<types.SessionInfo> {
    return this.transport.request({ method: "GET", path: "/session", options });
  }

  /**
   * Renews the web session of the request.
   *
   * It then ends after 12 hours without use. Every request that changes something does so too, at most every five
   * minutes; requests that only read do not. A page that is open sends it every few minutes.
   *
   * `PUT /session`
   */
  extend(options?: RequestOptions): APIPromise<void> {
    return this.transport.request({ method: "PUT", path: "/session", options });
  }

  /**
   * Ends the web session of the request and removes its cookie.
   *
   * With `all=true`, ends all web sessions of the caller, which takes the scope `keys`. API keys remain valid.
   *
   * `DELETE /session`
   */
  end(query?: types.WebSessionsEndParams, options?: RequestOptions): APIPromise<void> {
    return this.transport.request({ method: "DELETE", path: "/session", query, options });
  }

  /**
   * Creates a one-time link to sign in to the web app.
   *
   * The link works for ten minutes.
   *
   * `POST /session/link`
   */
  createLink(options?: RequestOptions): APIPromise<types.SignInLink> {
    return this.transport.request({ method: "POST", path: "/session/link", options });
  }

  /**
   * Returns how people sign in, besides API keys and links.
   *
   * Requires no API key.
   *
   * `GET /session/methods`
   */
  methods(options?: RequestOptions): APIPromise<types.SignInMethods> {
    return this.transport.request({ method: "GET", path: "/session/methods", options });
  }

  /**
   * Exchanges an OIDC authorization code for a one-time token.
   *
   * `POST /session` with the token starts a web session. Requires no API key: `state` and the ID token's `nonce` must
   * be digests of `code_verifier`, the base64url-encoded SHA-256 of `state.` or `nonce.` followed by it. A person at
   * the issuer is bound to the user with the same verified email address at the first sign-in; an address that was
   * invited and has no account yet gets one. The first sign-in ends all API keys and sessions of an account that was
   * created through an invitation.
   *
   * `POST /session/oidc`
   */
  exchangeCode(body: types.OidcCodeRequest, options?: RequestOptions): APIPromise<types.SignInToken> {
    return this.transport.request({ method: "POST", path: "/session/oidc", body, options });
  }

  /**
   * Lists the caller's web sessions, oldest first.
   *
   * `GET /sessions`
   */
  list(query?: types.WebSessionsListParams, options?: RequestOptions): PagePromise<types.WebSessionItem, types.ListWebSessionsResponse> {
    return this.transport.page({ method: "GET", path: "/sessions", query, options }, (body: types.ListWebSessionsResponse) => body.sessions);
  }

  /**
   * Ends one of the caller's web sessions.
   *
   * It is refused from the next request.
   *
   * `DELETE /sessions/{sessionUid}`
   */
  revoke(sessionUid: string, options?: RequestOptions): APIPromise<void> {
    return this.transport.request({ method: "DELETE", path: path`/sessions/${sessionUid}`, options });
  }
}

export class Me extends APIResource {
  /**
   * Returns the caller and their team memberships.
   *
   * `GET /agent/me`
   */
  retrieve(options?: RequestOptions): APIPromise<types.Me> {
    return this.transport.request({ method: "GET", path: "/agent/me", options });
  }

  /**
   * Updates the caller's display name.
   *
   * The email address cannot be changed: a different one returns 422.
   *
   * `PUT /agent/me`
   */
  update(body: types.UpdateMeRequest, options?: RequestOptions): APIPromise<types.Me> {
    return this.transport.request({ method: "PUT", path: "/agent/me", body, options });
  }
}

export class Teams extends APIResource {
  readonly members = new TeamsMembers(this.transport);
  readonly invitations = new TeamsInvitations(this.transport);

  /**
   * Creates a team with the caller as its admin.
   *
   * Settings that are absent or null have their defaults.
   *
   * `POST /agent/teams`
   */
  create(body: types.CreateTeamRequest, options?: RequestOptions): APIPromise<types.TeamItem> {
    return this.transport.request({ method: "POST", path: "/agent/teams", body, options });
  }

  /**
   * Lists the teams of the caller, oldest first.
   *
   * `GET /agent/teams`
   */
  list(query?: types.TeamsListParams, options?: RequestOptions): PagePromise<types.TeamItem, types.ListTeamsResponse> {
    return this.transport.page({ method: "GET", path: "/agent/teams", query, options }, (body: types.ListTeamsResponse) => body.teams);
  }

  /**
   * Returns a team with its settings and its spending of the month.
   *
   * Requires the role `admin`.
   *
   * `GET /agent/teams/{teamUid}`
   */
  retrieve(teamUid: string, options?: RequestOptions): APIPromise<types.TeamDetail> {
    return this.transport.request({ method: "GET", path: path`/agent/teams/${teamUid}`, options });
  }

  /**
   * Updates a team's name and settings.
   *
   * Settings that are absent keep their values; null restores the default. Requires the role `admin`.
   *
   * `PUT /agent/teams/{teamUid}`
   */
  update(teamUid: string, body: types.UpdateTeamRequest, options?: RequestOptions): APIPromise<types.TeamDetail> {
    return this.transport.request({ method: "PUT", path: path`/agent/teams/${teamUid}`, body, options });
  }

  /**
   * Deletes a team with its identities, keys, environments, secrets and webhooks.
   *
   * The team's runs must have ended and its schedules must be deleted, otherwise the response is 409. Requires the role
   * `admin`.
   *
   * `DELETE /agent/teams/{teamUid}`
   */
  delete(teamUid: string, options?: RequestOptions): APIPromise<void> {
    return this.transport.request({ method: "DELETE", path: path`/agent/teams/${teamUid}`, options });
  }
}

export class Invitations extends APIResource {
  /**
   * Accepts an invitation to a team.
   *
   * With an API key, the caller joins the team (200). Without an API key, an account is created for the invited address
   * (201), and its first API key is returned. A repeat with the same `Idempotency-Key` returns the same API key; no
   * other request does. If the address already has an account, the response is 401: use a key of that account.
   *
   * `POST /agent/invitations/{token}/accept`
   */
  accept(token: string, options?: RequestOptions): APIPromise<types.Membership> {
    return this.transport.request({ method: "POST", path: path`/agent/invitations/${token}/accept`, options });
  }
}

export class Secrets extends APIResource {
  /**
   * Creates a secret for the runs of a team.
   *
   * Environments and identities refer to the secret by name. The value is never returned; to change it, delete the
   * secret and create it again. A team can have at most 100 secrets. Requires the role `admin`.
   *
   * `POST /agent/secrets`
   */
  create(body: types.CreateSecretRequest, options?: RequestOptions): APIPromise<types.SecretItem> {
    return this.transport.request({ method: "POST", path: "/agent/secrets", body, options });
  }

  /**
   * Lists the metadata of a team's secrets, without values.
   *
   * Requires the role `admin`.
   *
   * `GET /agent/secrets`
   */
  list(query?: types.SecretsListParams, options?: RequestOptions): PagePromise<types.SecretItem, types.ListSecretsResponse> {
    return this.transport.page({ method: "GET", path: "/agent/secrets", query, options }, (body: types.ListSecretsResponse) => body.secrets);
  }

  /**
   * Returns a secret's metadata, without its value.
   *
   * Requires the role `admin`.
   *
   * `GET /agent/secrets/{secret}`
   */
  retrieve(secret: string, options?: RequestOptions): APIPromise<types.SecretItem> {
    return this.transport.request({ method: "GET", path: path`/agent/secrets/${secret}`, options });
  }

  /**
   * Deletes a secret.
   *
   * Executions that have started keep the value until they end. Requires the role `admin`.
   *
   * `DELETE /agent/secrets/{secret}`
   */
  delete(secret: string, options?: RequestOptions): APIPromise<void> {
    return this.transport.request({ method: "DELETE", path: path`/agent/secrets/${secret}`, options });
  }
}

export class Webhooks extends APIResource {
  /**
   * Creates a webhook, which receives events of the team's runs.
   *
   * The response contains the signing secret, which is never shown again. Events of personal runs are not delivered. A
   * team can have at most 10 webhooks. Requires the role `admin`.
   *
   * `POST /agent/webhooks`
   */
  create(body: types.CreateWebhookRequest, options?: RequestOptions): APIPromise<types.CreatedWebhook> {
    return this.transport.request({ method: "POST", path: "/agent/webhooks", body, options });
  }

  /**
   * Lists a team's webhooks, oldest first.
   *
   * Requires the role `admin`.
   *
   * `GET /agent/webhooks`
   */
  list(query?: types.WebhooksListParams, options?: RequestOptions): PagePromise<types.WebhookItem, types.ListWebhooksResponse> {
    return this.transport.page({ method: "GET", path: "/agent/webhooks", query, options }, (body: types.ListWebhooksResponse) => body.webhooks);
  }

  /**
   * Returns a webhook, without its signing secret.
   *
   * Requires the role `admin`.
   *
   * `GET /agent/webhooks/{webhookUid}`
   */
  retrieve(webhookUid: string, options?: RequestOptions): APIPromise<types.WebhookItem> {
    return this.transport.request({ method: "GET", path: path`/agent/webhooks/${webhookUid}`, options });
  }

  /**
   * Updates a webhook.
   *
   * Members that are absent or null keep their values; an empty value (`""`, `[]` or `{}`) clears one. Events that
   * occur while a webhook is disabled are not delivered to it. Requires the role `admin`.
   *
   * `PUT /agent/webhooks/{webhookUid}`
   */
  update(webhookUid: string, body: types.UpdateWebhookRequest, options?: RequestOptions): APIPromise<types.WebhookItem> {
    return this.transport.request({ method: "PUT", path: path`/agent/webhooks/${webhookUid}`, body, options });
  }

  /**
   * Deletes a webhook with its signing secret.
   *
   * Pending deliveries are not attempted again. Requires the role `admin`.
   *
   * `DELETE /agent/webhooks/{webhookUid}`
   */
  delete(webhookUid: string, options?: RequestOptions): APIPromise<void> {
    return this.transport.request({ method: "DELETE", path: path`/agent/webhooks/${webhookUid}`, options });
  }

  /**
   * Replaces the signing secret of a webhook.
   *
   * The response contains the new secret, which is never shown again. Deliveries are signed with both secrets for 24
   * hours; rotating again ends the older one at once. Requires the role `admin`.
   *
   * `POST /agent/webhooks/{webhookUid}/rotate-secret`
   */
  rotateSecret(webhookUid: string, options?: RequestOptions): APIPromise<types.RotateSecretResponse> {
    return this.transport.request({ method: "POST", path: path`/agent/webhooks/${webhookUid}/rotate-secret`, options });
  }

  /**
   * Lists the deliveries of a webhook with their attempts.
   *
   * The newest come first, unless `sort_order` says otherwise. Deliveries are kept for seven days. Requires the role
   * `admin`.
   *
   * `GET /agent/webhooks/{webhookUid}/deliveries`
   */
  deliveries(webhookUid: string, query?: types.WebhooksDeliveriesParams, options?: RequestOptions): PagePromise<types.DeliveryItem, types.ListDeliveriesResponse> {
    return this.transport.page({ method: "GET", path: path`/agent/webhooks/${webhookUid}/deliveries`, query, options }, (body: types.ListDeliveriesResponse) => body.deliveries);
  }

  /**
   * Sends the deliveries from `from_sequence` on again, within a minute.
   *
   * One request takes 500 deliveries; repeat it with the returned `next_sequence`. Requires the role `admin`.
   *
   * `POST /agent/webhooks/{webhookUid}/redeliver`
   */
  redeliver(webhookUid: string, query: types.WebhooksRedeliverParams, options?: RequestOptions): APIPromise<types.RedeliverResponse> {
    return this.transport.request({ method: "POST", path: path`/agent/webhooks/${webhookUid}/redeliver`, query, options });
  }
}

export class HarnessSupport extends APIResource {
  /**
   * Starts an execution and returns its prompt, context and secrets.
   *
   * The harness makes this call first. It binds the execution to the `Runyard-Instance` of the caller and moves the run
   * to `INPROGRESS`. If the harness sends the skill that it has loaded, the run shows that skill from then on. Tokens
   * among the secrets are renewed if they are about to expire, or if the harness says that a server has refused them.
   *
   * `POST /harness-support/resolve-prompt`
   */
  resolvePrompt(body: types.ResolvePromptRequest, options?: RequestOptions): APIPromise<types.ResolvePromptResponse> {
    return this.transport.request({ method: "POST", path: "/harness-support/resolve-prompt", body, options });
  }

  /**
   * Renews the lease of an execution and returns new follow-ups.
   *
   * Call again after `next_heartbeat_seconds`. An execution that sends no request for 30 seconds expires, and the run
   * is executed again from its last checkpoint. If `cancel` is true, stop all processes.
   *
   * `POST /harness-support/heartbeat`
   */
  heartbeat(body: types.HeartbeatRequest, options?: RequestOptions): APIPromise<types.HeartbeatResponse> {
    return this.transport.request({ method: "POST", path: "/harness-support/heartbeat", body, options });
  }

  /**
   * Appends messages to the conversation of a run.
   *
   * `first_sequence` must be the number of the next message; a gap returns 400. A repeated batch is stored once. A
   * message of the agent with a text and without an action is the response that ends a turn: a text that comes before
   * an action belongs in the action's message. A run stores at most 20,000 messages and 100 MiB.
   *
   * `POST /harness-support/messages`
   */
  appendMessages(body: types.MessagesRequest, options?: RequestOptions): APIPromise<types.MessagesResponse> {
    return this.transport.request({ method: "POST", path: "/harness-support/messages", body, options });
  }

  /**
   * Sends live output to the readers of a run.
   *
   * Send frames only while `watched` is true in the response of this or another request, at most two requests per
   * second. Of each stream, only the last 16 KiB are kept.
   *
   * `POST /harness-support/live`
   */
  recordLiveOutput(body: types.LiveRequest, options?: RequestOptions): APIPromise<types.LiveResponse> {
    return this.transport.request({ method: "POST", path: "/harness-support/live", body, options });
  }

  /**
   * Reports an artifact of a run.
   *
   * For a file or a screenshot, the first call returns an upload target; after the upload, repeat the call to publish
   * the artifact. Other types are published by the first call. A run stores at most 1,000 artifacts and 5 GiB.
   *
   * `POST /harness-support/report-artifact`
   */
  reportArtifact(body: types.ReportArtifactRequest, options?: RequestOptions): APIPromise<types.ReportArtifactResponse> {
    return this.transport.request({ method: "POST", path: "/harness-support/report-artifact", body, options });
  }

  /**
   * Notifies the user of a run while the run continues.
   *
   * The message becomes an event of type `user_notified`. A run can send at most 10 notifications.
   *
   * `POST /harness-support/notify-user`
   */
  notifyUser(body: types.NotifyUserRequest, options?: RequestOptions): APIPromise<types.Empty> {
    return this.transport.request({ method: "POST", path: "/harness-support/notify-user", body, options });
  }

  /**
   * Ends a run and records its result.
   *
   * The run becomes `SUCCEEDED`, `FAILED` or, with `blocked`, `BLOCKED`. `messages` are appended to its conversation
   * before. If a follow-up has not been delivered, the run returns to `QUEUED` instead or, with `followups_stored`,
   * continues with the follow-ups in the response. With `waits`, an interactive or interrupted run waits for a
   * follow-up, which a heartbeat delivers.
   *
   * `POST /harness-support/finish-task`
   */
  finishTask(body: types.FinishTaskRequest, options?: RequestOptions): APIPromise<types.FinishTaskResponse> {
    return this.transport.request({ method: "POST", path: "/harness-support/finish-task", body, options });
  }

  /**
   * Creates upload targets for the files of a snapshot.
   *
   * A snapshot becomes the checkpoint of a run only after it is committed. A snapshot has at most 100 files and 2 GiB;
   * a run has at most 500 snapshots.
   *
   * `POST /harness-support/upload-snapshot`
   */
  uploadSnapshot(body: types.UploadSnapshotRequest, options?: RequestOptions): APIPromise<types.UploadSnapshotResponse> {
    return this.transport.request({ method: "POST", path: "/harness-support/upload-snapshot", body, options });
  }

  /**
   * Commits an uploaded snapshot as the run's checkpoint.
   *
   * Later executions start from this checkpoint. All files must be uploaded, otherwise the response is 409.
   *
   * `POST /harness-support/commit-snapshot`
   */
  commitSnapshot(body: types.CommitSnapshotRequest, options?: RequestOptions): APIPromise<types.CommitSnapshotResponse> {
    return this.transport.request({ method: "POST", path: "/harness-support/commit-snapshot", body, options });
  }

  /**
   * Registers a conversation that a third-party harness stores itself.
   *
   * Upload the transcript of the conversation in the given format afterwards.
   *
   * `POST /harness-support/external-conversation`
   */
  createExternalConversation(body: types.ExternalConversationRequest, options?: RequestOptions): APIPromise<types.ExternalConversationResponse> {
    return this.transport.request({ method: "POST", path: "/harness-support/external-conversation", body, options });
  }

  /**
   * Creates an upload target for a third-party harness's raw transcript.
   *
   * The conversation must be registered first. A transcript can have up to 64 MiB, and a run stores at most 1,000 of
   * them.
   *
   * `POST /harness-support/transcript`
   */
  uploadTranscript(body: types.TranscriptRequest, options?: RequestOptions): APIPromise<types.UploadTarget> {
    return this.transport.request({ method: "POST", path: "/harness-support/transcript", body, options });
  }

  /**
   * Redirects to the raw transcript of a third-party harness.
   *
   * The URL expires after 15 minutes by default. With `redirect=false` the response is 200 and contains the URL. A
   * conversation of the default harness returns 400, one without a transcript 404, and another harness than the one of
   * the execution gets 409.
   *
   * `GET /harness-support/transcript`
   */
  getTranscript(options?: RequestOptions): APIPromise<types.HarnessSupportGetTranscriptResponse> {
    return this.transport.request({ method: "GET", path: "/harness-support/transcript", query: {"redirect":false}, options });
  }

  /**
   * Returns a token that proves the run's identity to other systems.
   *
   * Cloud providers exchange it for credentials. It is a JWT of this deployment as OIDC issuer, is valid for 15
   * minutes, and is issued only while the run executes. If no public address is configured, the response is 409.
   *
   * `POST /harness-support/identity-token`
   */
  identityToken(body: types.IdentityTokenRequest, options?: RequestOptions): APIPromise<types.IdentityTokenResponse> {
    return this.transport.request({ method: "POST", path: "/harness-support/identity-token", body, options });
  }

  /**
   * Pushes commits to the head branch of the run's pull request.
   *
   * The first call returns an upload target for their objects; after the upload, repeat the call to push them. The push
   * goes to that branch only and is never forced: the response is 409 if the commits do not continue the branch.
   *
   * `POST /harness-support/push-branch`
   */
  pushBranch(body: types.PushBranchRequest, options?: RequestOptions): APIPromise<types.PushBranchResponse> {
    return this.transport.request({ method: "POST", path: "/harness-support/push-branch", body, options });
  }

  /**
   * Reports that the sandbox of an execution has stopped.
   *
   * A run in progress is executed again from its last checkpoint; after 3 losses without a new checkpoint it ends in
   * `ERROR`. For a cancelled run, the timeline records `run_stopped`.
   *
   * `POST /harness-support/report-shutdown`
   */
  reportShutdown(body: types.ReportShutdownRequest, options?: RequestOptions): APIPromise<types.Empty> {
    return this.transport.request({ method: "POST", path: "/harness-support/report-shutdown", body, options });
  }
}

export class IdentityIssuer extends APIResource {
  /**
   * Returns the metadata of the issuer of identity tokens.
   *
   * The issuer is this deployment. Returns 404 if no public address is configured.
   *
   * `GET /.well-known/openid-configuration`
   */
  configuration(options?: RequestOptions): APIPromise<types.IdentityIssuerConfigurationResponse> {
    return this.transport.request({ method: "GET", path: "/.well-known/openid-configuration", options });
  }

  /**
   * Returns the public keys that verify identity tokens.
   *
   * The format is a JSON Web Key Set. A key is in the set a day before it signs its first token. Returns 404 if no
   * public address is configured.
   *
   * `GET /.well-known/jwks.json`
   */
  keys(options?: RequestOptions): APIPromise<types.IdentityIssuerKeysResponse> {
    return this.transport.request({ method: "GET", path: "/.well-known/jwks.json", options });
  }
}

export class Mcp extends APIResource {
  /**
   * Sends a message to the MCP server and returns its response.
   *
   * The transport is Streamable HTTP without sessions. Agents and editors start, read and steer runs with the tools of
   * this server. A tool needs the scope of the endpoint that it stands for; without it, the tool returns an error. A
   * notification returns 202. Only API keys are accepted, no web session.
   *
   * `POST /mcp`
   */
  send(body: types.McpMessage, options?: RequestOptions): APIPromise<types.McpResponse> {
    return this.transport.request({ method: "POST", path: "/mcp", body, options });
  }
}

export class Documentation extends APIResource {
  /**
   * Returns this OpenAPI document.
   *
   * The server URL is the address of the deployment.
   *
   * `GET /openapi.json`
   */
  openapi(options?: RequestOptions): APIPromise<types.DocumentationOpenapiResponse> {
    return this.transport.request({ method: "GET", path: "/openapi.json", options });
  }

  /**
   * Returns the first page of the documentation, or search results.
   *
   * The response is HTML.
   *
   * `GET /docs`
   */
  reference(query?: types.DocumentationReferenceParams, options?: RequestOptions): APIPromise<string> {
    return this.transport.request({ method: "GET", path: "/docs", query, responseType: "text", options });
  }

  /**
   * Returns the HTML page of an operation or a schema.
   *
   * The name is an operation id or the name of a schema in the OpenAPI document. With `.md` at its end, the response is
   * Markdown.
   *
   * `GET /docs/reference/{name}`
   */
  referencePage(name: string, options?: RequestOptions): APIPromise<string> {
    return this.transport.request({ method: "GET", path: path`/docs/reference/${name}`, responseType: "text", options });
  }

  /**
   * Returns a page of the documentation as HTML.
   *
   * With `.md` at the end of the name, the response is Markdown.
   *
   * `GET /docs/guides/{guide}`
   */
  guide(guide: string, options?: RequestOptions): APIPromise<string> {
    return this.transport.request({ method: "GET", path: path`/docs/guides/${guide}`, responseType: "text", options });
  }

  /**
   * Returns links to all pages of the documentation as Markdown, for agents.
   *
   * `GET /llms.txt`
   */
  pages(options?: RequestOptions): APIPromise<string> {
    return this.transport.request({ method: "GET", path: "/llms.txt", responseType: "text", options });
  }

  /**
   * Returns an HTML page with all error codes.
   *
   * `GET /docs/errors`
   */
  errors(options?: RequestOptions): APIPromise<string> {
    return this.transport.request({ method: "GET", path: "/docs/errors", responseType: "text", options });
  }

  /**
   * Returns the HTML page of one error code.
   *
   * The `type` of an error response is the URL of this page.
   *
   * `GET /docs/errors/{code}`
   */
  error(code: string, options?: RequestOptions): APIPromise<string> {
    return this.transport.request({ method: "GET", path: path`/docs/errors/${code}`, responseType: "text", options });
  }
}
