// Made of docs/openapi.json and clients/methods.json by `npm run clients:generate`; not to be edited.
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
   * `POST /agent/identities/{identityUid}/keys`
   */
  create(identityUid: string, body: types.CreateKeyRequest, options?: RequestOptions): APIPromise<types.CreatedKey> {
    return this.transport.request({ method: "POST", path: path`/agent/identities/${identityUid}/keys`, body, options });
  }

  /**
   * Lists the metadata of an identity's API keys, oldest first.
   *
   * `GET /agent/identities/{identityUid}/keys`
   */
  list(identityUid: string, query?: types.IdentitiesKeysListParams, options?: RequestOptions): PagePromise<types.KeyItem, types.ListKeysResponse> {
    return this.transport.page({ method: "GET", path: path`/agent/identities/${identityUid}/keys`, query, options }, (body: types.ListKeysResponse) => body.keys);
  }

  /**
   * Deletes an identity's API key.
   *
   * `DELETE /agent/identities/{identityUid}/keys/{keyUid}`
   */
  delete(identityUid: string, keyUid: string, options?: RequestOptions): APIPromise<void> {
    return this.transport.request({ method: "DELETE", path: path`/agent/identities/${identityUid}/keys/${keyUid}`, options });
  }
}

export class TeamsMembers extends APIResource {
  /**
   * Lists the members of a team with their roles.
   *
   * `GET /agent/teams/{teamUid}/members`
   */
  list(teamUid: string, query?: types.TeamsMembersListParams, options?: RequestOptions): PagePromise<types.MemberItem, types.ListMembersResponse> {
    return this.transport.page({ method: "GET", path: path`/agent/teams/${teamUid}/members`, query, options }, (body: types.ListMembersResponse) => body.members);
  }

  /**
   * Changes the role of a member.
   *
   * `PUT /agent/teams/{teamUid}/members/{userUid}`
   */
  update(teamUid: string, userUid: string, body: types.UpdateMemberRequest, options?: RequestOptions): APIPromise<types.MemberItem> {
    return this.transport.request({ method: "PUT", path: path`/agent/teams/${teamUid}/members/${userUid}`, body, options });
  }

  /**
   * Removes a member from a team.
   *
   * `DELETE /agent/teams/{teamUid}/members/{userUid}`
   */
  remove(teamUid: string, userUid: string, query?: types.TeamsMembersRemoveParams, options?: RequestOptions): APIPromise<types.RemovedMember> {
    return this.transport.request({ method: "DELETE", path: path`/agent/teams/${teamUid}/members/${userUid}`, query, options });
  }
}

export class TeamsInvitations extends APIResource {
  /**
   * Creates an invitation whose link is valid for a week.
   *
   * `POST /agent/teams/{teamUid}/invitations`
   */
  create(teamUid: string, body: types.CreateInvitationRequest, options?: RequestOptions): APIPromise<types.CreatedInvitation> {
    return this.transport.request({ method: "POST", path: path`/agent/teams/${teamUid}/invitations`, body, options });
  }

  /**
   * Lists the open invitations of a team without their links.
   *
   * `GET /agent/teams/{teamUid}/invitations`
   */
  list(teamUid: string, query?: types.TeamsInvitationsListParams, options?: RequestOptions): PagePromise<types.InvitationItem, types.ListInvitationsResponse> {
    return this.transport.page({ method: "GET", path: path`/agent/teams/${teamUid}/invitations`, query, options }, (body: types.ListInvitationsResponse) => body.invitations);
  }

  /**
   * Revokes an invitation.
   *
   * `DELETE /agent/teams/{teamUid}/invitations/{invitationId}`
   */
  delete(teamUid: string, invitationId: string, options?: RequestOptions): APIPromise<void> {
    return this.transport.request({ method: "DELETE", path: path`/agent/teams/${teamUid}/invitations/${invitationId}`, options });
  }
}

export class Runs extends APIResource {
  /**
   * Takes a prompt and answers with the run's id at once.
   *
   * `POST /agent/runs`
   */
  create(body: types.RunAgentRequest, options?: RequestOptions & { query?: types.RunsCreateParams }): APIPromise<types.RunAgentResponse> {
    return this.transport.request({ method: "POST", path: "/agent/runs", query: options?.query, body, options });
  }

  /**
   * The runs that the caller sees, page by page.
   *
   * `GET /agent/runs`
   */
  list(query?: types.RunsListParams, options?: RequestOptions): PagePromise<types.RunItem, types.ListRunsResponse> {
    return this.transport.page({ method: "GET", path: "/agent/runs", query, options }, (body: types.ListRunsResponse) => body.runs);
  }

  /**
   * Cancels all runs that match a filter and have not ended, up to 1,000 at once.
   *
   * `POST /agent/runs/cancel`
   */
  cancelMany(body: types.CancelRunsRequest, options?: RequestOptions): APIPromise<types.CancelRunsResponse> {
    return this.transport.request({ method: "POST", path: "/agent/runs/cancel", body, options });
  }

  /**
   * The run in full.
   *
   * `GET /agent/runs/{runId}`
   */
  retrieve(runId: string, options?: RequestOptions): APIPromise<types.RunItem> {
    return this.transport.request({ method: "GET", path: path`/agent/runs/${runId}`, options });
  }

  /**
   * Stops the run and its agent's processes.
   *
   * `POST /agent/runs/{runId}/cancel`
   */
  cancel(runId: string, query?: types.RunsCancelParams, options?: RequestOptions): APIPromise<string> {
    return this.transport.request({ method: "POST", path: path`/agent/runs/${runId}/cancel`, query, options });
  }

  /**
   * A message for the agent, whatever the run's state.
   *
   * `POST /agent/runs/{runId}/followups`
   */
  sendFollowup(runId: string, body: types.RunFollowupRequest, options?: RequestOptions): APIPromise<types.Empty> {
    return this.transport.request({ method: "POST", path: path`/agent/runs/${runId}/followups`, body, options });
  }

  /**
   * What happened to the run, in order.
   *
   * `GET /agent/runs/{runId}/timeline`
   */
  timeline(runId: string, query?: types.RunsTimelineParams, options?: RequestOptions): PagePromise<types.TimelineEvent, types.Timeline> {
    return this.transport.page({ method: "GET", path: path`/agent/runs/${runId}/timeline`, query, options }, (body: types.Timeline) => body.events);
  }

  /**
   * What was said in the run, as normalized blocks.
   *
   * `GET /agent/runs/{runId}/conversation`
   */
  conversation(runId: string, query?: types.RunsConversationParams, options?: RequestOptions): PagePromise<types.Step, types.Conversation> {
    return this.transport.page({ method: "GET", path: path`/agent/runs/${runId}/conversation`, query, options }, (body: types.Conversation) => body.steps);
  }

  /**
   * 302 to a time-limited URL of the raw transcript, or with redirect=false the URL itself.
   *
   * `GET /agent/runs/{runId}/transcript`
   */
  transcript(runId: string, options?: RequestOptions): APIPromise<types.RunsTranscriptResponse> {
    return this.transport.request({ method: "GET", path: path`/agent/runs/${runId}/transcript`, query: {"redirect":false}, options });
  }

  /**
   * Snapshot files of the latest execution that has ended.
   *
   * `GET /agent/runs/{runId}/handoff/attachments`
   */
  handoffAttachments(runId: string, options?: RequestOptions): APIPromise<types.HandoffAttachments> {
    return this.transport.request({ method: "GET", path: path`/agent/runs/${runId}/handoff/attachments`, options });
  }

  /**
   * Everything in one gapless sequence.
   *
   * `GET /agent/runs/{runId}/events`
   */
  listEvents(runId: string, query?: types.RunsListEventsParams, options?: RequestOptions): APIPromise<types.RunEvents> {
    return this.transport.request({ method: "GET", path: path`/agent/runs/${runId}/events`, query, options });
  }

  /**
   * The agent's last words.
   *
   * `GET /agent/runs/{runId}/response`
   */
  response(runId: string, options?: RequestOptions): APIPromise<types.RunsResponseResponse> {
    return this.transport.request({ method: "GET", path: path`/agent/runs/${runId}/response`, options });
  }

  /**
   * An execution's own entry in its timeline, once per event_uuid.
   *
   * `POST /agent/runs/{runId}/client-events`
   */
  createClientEvent(runId: string, body: types.ClientEvent, options?: RequestOptions): APIPromise<types.Empty> {
    return this.transport.request({ method: "POST", path: path`/agent/runs/${runId}/client-events`, body, options });
  }
}

export class Conversations extends APIResource {
  /**
   * All runs of a conversation as one, oldest first.
   *
   * `GET /agent/conversations/{conversationId}`
   */
  retrieve(conversationId: string, query?: types.ConversationsRetrieveParams, options?: RequestOptions): PagePromise<types.Step, types.Conversation> {
    return this.transport.page({ method: "GET", path: path`/agent/conversations/${conversationId}`, query, options }, (body: types.Conversation) => body.steps);
  }

  /**
   * The latest session of it that is shared with everybody.
   *
   * `GET /agent/conversations/{conversationId}/redirect`
   */
  redirect(conversationId: string, options?: RequestOptions): APIPromise<types.ConversationRedirect> {
    return this.transport.request({ method: "GET", path: path`/agent/conversations/${conversationId}/redirect`, options });
  }
}

export class Sessions extends APIResource {
  /**
   * The conversation of a session that is shared with everybody.
   *
   * `GET /agent/sessions/{sessionId}/redirect`
   */
  redirect(sessionId: string, options?: RequestOptions): APIPromise<types.SessionRedirect> {
    return this.transport.request({ method: "GET", path: path`/agent/sessions/${sessionId}/redirect`, options });
  }
}

export class Attachments extends APIResource {
  /**
   * Where to upload a file that the caller's next runs may be given, for 24 hours.
   *
   * `POST /agent/attachments`
   */
  create(body: types.CreateAttachmentRequest, options?: RequestOptions): APIPromise<types.CreateAttachmentResponse> {
    return this.transport.request({ method: "POST", path: "/agent/attachments", body, options });
  }
}

export class Artifacts extends APIResource {
  /**
   * An artifact, with a time-limited URL of its file.
   *
   * `GET /agent/artifacts/{artifactUid}`
   */
  retrieve(artifactUid: string, options?: RequestOptions): APIPromise<types.ArtifactResponse> {
    return this.transport.request({ method: "GET", path: path`/agent/artifacts/${artifactUid}`, options });
  }
}

export class Agents extends APIResource {
  /**
   * Lists the skills in the repositories of the caller's environments, or in the repository that `repo` names.
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
   * `GET /agent/connected-self-hosted-workers`
   */
  list(query?: types.WorkersListParams, options?: RequestOptions): PagePromise<types.WorkerItem, types.ListWorkersResponse> {
    return this.transport.page({ method: "GET", path: "/agent/connected-self-hosted-workers", query, options }, (body: types.ListWorkersResponse) => body.workers);
  }
}

export class Models extends APIResource {
  /**
   * Lists the models of this deployment, and the default of a run that names none.
   *
   * `GET /agent/models`
   */
  list(options?: RequestOptions): APIPromise<types.ModelsResponse> {
    return this.transport.request({ method: "GET", path: "/agent/models", options });
  }
}

export class Schedules extends APIResource {
  /**
   * Creates a schedule.
   *
   * `POST /agent/schedules`
   */
  create(body: types.CreateScheduleRequest, options?: RequestOptions): APIPromise<types.ScheduleItem> {
    return this.transport.request({ method: "POST", path: "/agent/schedules", body, options });
  }

  /**
   * Lists the schedules visible to the caller, by name.
   *
   * `GET /agent/schedules`
   */
  list(query?: types.SchedulesListParams, options?: RequestOptions): PagePromise<types.ScheduleItem, types.ListSchedulesResponse> {
    return this.transport.page({ method: "GET", path: "/agent/schedules", query, options }, (body: types.ListSchedulesResponse) => body.schedules);
  }

  /**
   * Returns a schedule with its latest runs.
   *
   * `GET /agent/schedules/{scheduleId}`
   */
  retrieve(scheduleId: string, options?: RequestOptions): APIPromise<types.ScheduleItem> {
    return this.transport.request({ method: "GET", path: path`/agent/schedules/${scheduleId}`, options });
  }

  /**
   * Replaces a schedule.
   *
   * `PUT /agent/schedules/{scheduleId}`
   */
  update(scheduleId: string, body: types.UpdateScheduleRequest, options?: RequestOptions): APIPromise<types.ScheduleItem> {
    return this.transport.request({ method: "PUT", path: path`/agent/schedules/${scheduleId}`, body, options });
  }

  /**
   * Deletes a schedule.
   *
   * `DELETE /agent/schedules/{scheduleId}`
   */
  delete(scheduleId: string, options?: RequestOptions): APIPromise<types.DeleteScheduleResponse> {
    return this.transport.request({ method: "DELETE", path: path`/agent/schedules/${scheduleId}`, options });
  }

  /**
   * Pauses a schedule until it is resumed.
   *
   * `POST /agent/schedules/{scheduleId}/pause`
   */
  pause(scheduleId: string, options?: RequestOptions): APIPromise<types.ScheduleItem> {
    return this.transport.request({ method: "POST", path: path`/agent/schedules/${scheduleId}/pause`, options });
  }

  /**
   * Resumes a schedule from its next planned firing.
   *
   * `POST /agent/schedules/{scheduleId}/resume`
   */
  resume(scheduleId: string, options?: RequestOptions): APIPromise<types.ScheduleItem> {
    return this.transport.request({ method: "POST", path: path`/agent/schedules/${scheduleId}/resume`, options });
  }

  /**
   * Starts a run of a schedule now, even if the schedule is paused.
   *
   * `POST /agent/schedules/{scheduleId}/run`
   */
  run(scheduleId: string, options?: RequestOptions): APIPromise<types.RunAgentResponse> {
    return this.transport.request({ method: "POST", path: path`/agent/schedules/${scheduleId}/run`, options });
  }

  /**
   * Lists the outcomes of planned firings, the latest first.
   *
   * `GET /agent/schedules/{scheduleId}/ticks`
   */
  ticks(scheduleId: string, query?: types.SchedulesTicksParams, options?: RequestOptions): PagePromise<types.ListTicksResponse["ticks"][number], types.ListTicksResponse> {
    return this.transport.page({ method: "GET", path: path`/agent/schedules/${scheduleId}/ticks`, query, options }, (body: types.ListTicksResponse) => body.ticks);
  }
}

export class Identities extends APIResource {
  readonly keys = new IdentitiesKeys(this.transport);

  /**
   * Creates an agent identity with defaults for its runs.
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
   * Returns an identity.
   *
   * `GET /agent/identities/{identityUid}`
   */
  retrieve(identityUid: string, options?: RequestOptions): APIPromise<types.IdentityItem> {
    return this.transport.request({ method: "GET", path: path`/agent/identities/${identityUid}`, options });
  }

  /**
   * Changes an identity.
   *
   * `PUT /agent/identities/{identityUid}`
   */
  update(identityUid: string, body: types.UpdateIdentityRequest, options?: RequestOptions): APIPromise<types.IdentityItem> {
    return this.transport.request({ method: "PUT", path: path`/agent/identities/${identityUid}`, body, options });
  }

  /**
   * Deletes an identity and its keys.
   *
   * `DELETE /agent/identities/{identityUid}`
   */
  delete(identityUid: string, options?: RequestOptions): APIPromise<void> {
    return this.transport.request({ method: "DELETE", path: path`/agent/identities/${identityUid}`, options });
  }
}

export class Environments extends APIResource {
  /**
   * Creates an environment.
   *
   * `POST /agent/environments`
   */
  create(body: types.CreateEnvironmentRequest, options?: RequestOptions): APIPromise<types.EnvironmentItem> {
    return this.transport.request({ method: "POST", path: "/agent/environments", body, options });
  }

  /**
   * Lists the environments that the caller owns or that are shared with it.
   *
   * `GET /agent/environments`
   */
  list(query?: types.EnvironmentsListParams, options?: RequestOptions): PagePromise<types.EnvironmentItem, types.ListEnvironmentsResponse> {
    return this.transport.page({ method: "GET", path: "/agent/environments", query, options }, (body: types.ListEnvironmentsResponse) => body.environments);
  }

  /**
   * Returns an environment, also to a caller with its link.
   *
   * `GET /agent/environments/{environmentUid}`
   */
  retrieve(environmentUid: string, query?: types.EnvironmentsRetrieveParams, options?: RequestOptions): APIPromise<types.EnvironmentItem> {
    return this.transport.request({ method: "GET", path: path`/agent/environments/${environmentUid}`, query, options });
  }

  /**
   * Changes an environment.
   *
   * `PUT /agent/environments/{environmentUid}`
   */
  update(environmentUid: string, body: types.UpdateEnvironmentRequest, options?: RequestOptions): APIPromise<types.EnvironmentItem> {
    return this.transport.request({ method: "PUT", path: path`/agent/environments/${environmentUid}`, body, options });
  }

  /**
   * Deletes an environment.
   *
   * `DELETE /agent/environments/{environmentUid}`
   */
  delete(environmentUid: string, options?: RequestOptions): APIPromise<void> {
    return this.transport.request({ method: "DELETE", path: path`/agent/environments/${environmentUid}`, options });
  }

  /**
   * Shares an environment with a person or by link.
   *
   * `POST /agent/environments/{environmentUid}/share`
   */
  share(environmentUid: string, body: types.ShareRequest, options?: RequestOptions): APIPromise<types.ShareResponse> {
    return this.transport.request({ method: "POST", path: path`/agent/environments/${environmentUid}/share`, body, options });
  }

  /**
   * Stops sharing an environment with a person or by link.
   *
   * `DELETE /agent/environments/{environmentUid}/share`
   */
  unshare(environmentUid: string, body: types.ShareRequest, options?: RequestOptions): APIPromise<types.ShareResponse> {
    return this.transport.request({ method: "DELETE", path: path`/agent/environments/${environmentUid}/share`, body, options });
  }
}

export class Keys extends APIResource {
  /**
   * Creates a personal API key.
   *
   * `POST /agent/keys`
   */
  create(body: types.CreateKeyRequest, options?: RequestOptions): APIPromise<types.CreatedKey> {
    return this.transport.request({ method: "POST", path: "/agent/keys", body, options });
  }

  /**
   * Lists the metadata of the caller's API keys, oldest first.
   *
   * `GET /agent/keys`
   */
  list(query?: types.KeysListParams, options?: RequestOptions): PagePromise<types.KeyItem, types.ListKeysResponse> {
    return this.transport.page({ method: "GET", path: "/agent/keys", query, options }, (body: types.ListKeysResponse) => body.keys);
  }

  /**
   * Deletes one of the caller's API keys.
   *
   * `DELETE /agent/keys/{keyUid}`
   */
  delete(keyUid: string, options?: RequestOptions): APIPromise<void> {
    return this.transport.request({ method: "DELETE", path: path`/agent/keys/${keyUid}`, options });
  }
}

export class Me extends APIResource {
  /**
   * Returns the caller and their teams.
   *
   * `GET /agent/me`
   */
  retrieve(options?: RequestOptions): APIPromise<types.Me> {
    return this.transport.request({ method: "GET", path: "/agent/me", options });
  }

  /**
   * Changes the caller's display name.
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
   * Creates a team whose admin is the caller.
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
   * Returns a team with its settings.
   *
   * `GET /agent/teams/{teamUid}`
   */
  retrieve(teamUid: string, options?: RequestOptions): APIPromise<types.TeamItem> {
    return this.transport.request({ method: "GET", path: path`/agent/teams/${teamUid}`, options });
  }

  /**
   * Changes a team's name and settings.
   *
   * `PUT /agent/teams/{teamUid}`
   */
  update(teamUid: string, body: types.UpdateTeamRequest, options?: RequestOptions): APIPromise<types.TeamItem> {
    return this.transport.request({ method: "PUT", path: path`/agent/teams/${teamUid}`, body, options });
  }

  /**
   * Deletes a team and everything in it.
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
   * `POST /agent/invitations/{token}/accept`
   */
  accept(token: string, options?: RequestOptions): APIPromise<types.Membership> {
    return this.transport.request({ method: "POST", path: path`/agent/invitations/${token}/accept`, options });
  }
}

export class Secrets extends APIResource {
  /**
   * Creates a secret that configurations refer to by name.
   *
   * `POST /agent/secrets`
   */
  create(body: types.CreateSecretRequest, options?: RequestOptions): APIPromise<types.SecretItem> {
    return this.transport.request({ method: "POST", path: "/agent/secrets", body, options });
  }

  /**
   * Lists the names of the team's secrets.
   *
   * `GET /agent/secrets`
   */
  list(query?: types.SecretsListParams, options?: RequestOptions): PagePromise<types.SecretItem, types.ListSecretsResponse> {
    return this.transport.page({ method: "GET", path: "/agent/secrets", query, options }, (body: types.ListSecretsResponse) => body.secrets);
  }

  /**
   * Returns a secret's metadata.
   *
   * `GET /agent/secrets/{secret}`
   */
  retrieve(secret: string, options?: RequestOptions): APIPromise<types.SecretItem> {
    return this.transport.request({ method: "GET", path: path`/agent/secrets/${secret}`, options });
  }

  /**
   * Deletes a secret.
   *
   * `DELETE /agent/secrets/{secret}`
   */
  delete(secret: string, options?: RequestOptions): APIPromise<void> {
    return this.transport.request({ method: "DELETE", path: path`/agent/secrets/${secret}`, options });
  }
}

export class HarnessSupport extends APIResource {
  /**
   * The first call of an execution, answered with all that it needs.
   *
   * `POST /harness-support/resolve-prompt`
   */
  resolvePrompt(body: types.ResolvePromptRequest, options?: RequestOptions): APIPromise<types.ResolvePromptResponse> {
    return this.transport.request({ method: "POST", path: "/harness-support/resolve-prompt", body, options });
  }

  /**
   * A sign of life, answered with new follow-ups and whether to stop.
   *
   * `POST /harness-support/heartbeat`
   */
  heartbeat(body: types.HeartbeatRequest, options?: RequestOptions): APIPromise<types.HeartbeatResponse> {
    return this.transport.request({ method: "POST", path: "/harness-support/heartbeat", body, options });
  }

  /**
   * Appends to the conversation.
   *
   * `POST /harness-support/messages`
   */
  appendMessages(body: types.MessagesRequest, options?: RequestOptions): APIPromise<types.MessagesResponse> {
    return this.transport.request({ method: "POST", path: "/harness-support/messages", body, options });
  }

  /**
   * Where to upload a file, and then that it is there.
   *
   * `POST /harness-support/report-artifact`
   */
  reportArtifact(body: types.ReportArtifactRequest, options?: RequestOptions): APIPromise<types.ReportArtifactResponse> {
    return this.transport.request({ method: "POST", path: "/harness-support/report-artifact", body, options });
  }

  /**
   * A word to the run's user while it goes on, as an event of the run.
   *
   * `POST /harness-support/notify-user`
   */
  notifyUser(body: types.NotifyUserRequest, options?: RequestOptions): APIPromise<types.Empty> {
    return this.transport.request({ method: "POST", path: "/harness-support/notify-user", body, options });
  }

  /**
   * The run has come to its end.
   *
   * `POST /harness-support/finish-task`
   */
  finishTask(body: types.FinishTaskRequest, options?: RequestOptions): APIPromise<types.Empty> {
    return this.transport.request({ method: "POST", path: "/harness-support/finish-task", body, options });
  }

  /**
   * Where to upload the files from which the run could go on.
   *
   * `POST /harness-support/upload-snapshot`
   */
  uploadSnapshot(body: types.UploadSnapshotRequest, options?: RequestOptions): APIPromise<types.UploadSnapshotResponse> {
    return this.transport.request({ method: "POST", path: "/harness-support/upload-snapshot", body, options });
  }

  /**
   * The uploaded files become the checkpoint from which the run goes on.
   *
   * `POST /harness-support/commit-snapshot`
   */
  commitSnapshot(body: types.CommitSnapshotRequest, options?: RequestOptions): APIPromise<types.CommitSnapshotResponse> {
    return this.transport.request({ method: "POST", path: "/harness-support/commit-snapshot", body, options });
  }

  /**
   * A harness of others writes the run's conversation, in a format of its own.
   *
   * `POST /harness-support/external-conversation`
   */
  createExternalConversation(body: types.ExternalConversationRequest, options?: RequestOptions): APIPromise<types.ExternalConversationResponse> {
    return this.transport.request({ method: "POST", path: "/harness-support/external-conversation", body, options });
  }

  /**
   * Where to upload the raw transcript of a conversation that a harness of others writes.
   *
   * `POST /harness-support/transcript`
   */
  uploadTranscript(body: types.TranscriptRequest, options?: RequestOptions): APIPromise<types.UploadTarget> {
    return this.transport.request({ method: "POST", path: "/harness-support/transcript", body, options });
  }

  /**
   * 302 to the raw transcript that a harness of others has made of the task's conversation, or with redirect=false the URL itself.
   *
   * `GET /harness-support/transcript`
   */
  getTranscript(options?: RequestOptions): APIPromise<types.HarnessSupportGetTranscriptResponse> {
    return this.transport.request({ method: "GET", path: "/harness-support/transcript", query: {"redirect":false}, options });
  }

  /**
   * The sandbox's word that its execution has stopped.
   *
   * `POST /harness-support/report-shutdown`
   */
  reportShutdown(body: types.ReportShutdownRequest, options?: RequestOptions): APIPromise<types.Empty> {
    return this.transport.request({ method: "POST", path: "/harness-support/report-shutdown", body, options });
  }
}

export class Documentation extends APIResource {
  /**
   * Returns the OpenAPI document, with the deployment's URL as its server.
   *
   * `GET /openapi.json`
   */
  openapi(options?: RequestOptions): APIPromise<types.DocumentationOpenapiResponse> {
    return this.transport.request({ method: "GET", path: "/openapi.json", options });
  }

  /**
   * Returns the API reference as an HTML page.
   *
   * `GET /docs`
   */
  reference(options?: RequestOptions): APIPromise<string> {
    return this.transport.request({ method: "GET", path: "/docs", answer: "text", options });
  }

  /**
   * Lists all error codes on an HTML page.
   *
   * `GET /docs/errors`
   */
  errors(options?: RequestOptions): APIPromise<string> {
    return this.transport.request({ method: "GET", path: "/docs/errors", answer: "text", options });
  }

  /**
   * Returns the page of an error code, to which the `type` of a problem links.
   *
   * `GET /docs/errors/{code}`
   */
  error(code: string, options?: RequestOptions): APIPromise<string> {
    return this.transport.request({ method: "GET", path: path`/docs/errors/${code}`, answer: "text", options });
  }
}
