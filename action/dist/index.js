// Made of action/ by `npm run docs`; not to be edited.

// cli/src/defined.ts
function defined(value) {
  return JSON.parse(JSON.stringify(value));
}

// clients/typescript/src/artifact-files.ts
function planArtifactFiles(artifacts) {
  let usedPaths = /* @__PURE__ */ new Set();
  return artifacts.flatMap((artifact) => {
    let uid = textOf(artifact.data, "artifact_uid");
    if (uid === void 0) return [];
    let names = ["filepath", "filename", "title"].map((name) => textOf(artifact.data, name)), path3 = takePath(usedPaths, toSafePath(names.find((name) => name !== void 0) ?? uid));
    return [{ artifact, artifact_uid: uid, path: path3 }];
  });
}
function textOf(data, name) {
  let value = Reflect.get(data, name);
  return typeof value == "string" && value !== "" ? value : void 0;
}
function toSafePath(name) {
  let safeParts = name.replaceAll("\\", "/").replace(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu, "_").split("/").filter((part) => !/^\.*$/.test(part) && !/^[a-z]:$/i.test(part));
  return safeParts.length === 0 ? "artifact" : safeParts.map((part) => part.replace(/^([a-z]):/i, "$1_")).join("/");
}
function takePath(usedPaths, path3) {
  let isFree = (one) => !usedPaths.has(one.toLowerCase()) && !usedPaths.has(`${one.toLowerCase()}/`) && !foldersOf(one).some((folder) => usedPaths.has(folder)), preferred = foldersOf(path3).some((folder) => usedPaths.has(folder)) ? path3.replaceAll("/", "_") : path3, free = preferred;
  for (let count = 2; !isFree(free); count++) free = addNumber(preferred, count);
  usedPaths.add(free.toLowerCase());
  for (let folder of foldersOf(free)) usedPaths.add(`${folder}/`);
  return free;
}
function foldersOf(path3) {
  let parts = path3.toLowerCase().split("/");
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
}
function addNumber(path3, count) {
  let [, stem = path3, ending = ""] = /^(.*[^/])(\.[^./]*)$/.exec(path3) ?? [];
  return `${stem}-${count}${ending}`;
}

// clients/typescript/src/errors.ts
var RunyardError = class extends Error {
  name = "RunyardError";
}, RunTimeoutError = class extends RunyardError {
  name = "RunTimeoutError";
  runId;
  constructor(runId, maxWait) {
    super(`The run ${runId} has not ended within ${maxWait} ms. It continues.`), this.runId = runId;
  }
}, APIError = class extends RunyardError {
  name = "APIError";
  /** The status of the response. Undefined if there was none. */
  status;
  headers;
  /** The body of the response, parsed if it is JSON. Responses of a gateway are not problem+json. */
  body;
  /** The error code, one of a closed list, such as `resource_not_found`. */
  errorCode;
  /** The URL of the documentation of the error code. */
  type;
  title;
  /** What is wrong with this request. */
  detail;
  /** The path of the request, as the API received it. */
  instance;
  /** Whether the same request may succeed later. */
  retryable;
  /** One entry for each invalid field; often empty. */
  errors;
  /** The id of the request's trace, to quote in a support request. */
  traceId;
  /** The header `x-request-id`: equal to `traceId`, and present on every response. */
  requestId;
  constructor(message, response = {}) {
    super(message, "cause" in response ? { cause: response.cause } : void 0);
    let problem = toProblem(response.body);
    this.status = response.status, this.headers = response.headers, this.body = response.body, this.errorCode = problem.error_code, this.type = problem.type, this.title = problem.title, this.detail = problem.detail, this.instance = problem.instance, this.retryable = problem.retryable, this.errors = Array.isArray(problem.errors) ? problem.errors : [], this.requestId = response.headers?.get("x-request-id") ?? void 0, this.traceId = problem.trace_id ?? this.requestId;
  }
}, APIConnectionError = class extends APIError {
  name = "APIConnectionError";
}, APITimeoutError = class extends APIConnectionError {
  name = "APITimeoutError";
}, APIUserAbortError = class extends APIError {
  name = "APIUserAbortError";
}, BadRequestError = class extends APIError {
  name = "BadRequestError";
}, AuthenticationError = class extends APIError {
  name = "AuthenticationError";
}, PermissionDeniedError = class extends APIError {
  name = "PermissionDeniedError";
}, NotFoundError = class extends APIError {
  name = "NotFoundError";
}, ConflictError = class extends APIError {
  name = "ConflictError";
}, UnprocessableEntityError = class extends APIError {
  name = "UnprocessableEntityError";
}, RateLimitError = class extends APIError {
  name = "RateLimitError";
}, InternalServerError = class extends APIError {
  name = "InternalServerError";
}, CLASSES = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionDeniedError,
  404: NotFoundError,
  409: ConflictError,
  422: UnprocessableEntityError,
  429: RateLimitError
};
function toAPIError({ status, headers }, text) {
  let body = parseBody(text), { error, title, detail, message } = toProblem(body), summary = error ?? detail ?? title ?? message ?? (typeof body == "string" ? body.slice(0, 200) : ""), Class = CLASSES[status] ?? (status >= 500 ? InternalServerError : APIError);
  return new Class(`${status} ${summary}`.trim(), { status, headers, body });
}
function parseBody(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
function toProblem(body) {
  return typeof body == "object" && body !== null ? body : {};
}

// clients/typescript/src/path.ts
function path(texts, ...values) {
  return texts.reduce((whole, text, index) => {
    let value = values[index - 1] ?? "";
    if (/^\.{0,2}$/.test(value)) throw new RunyardError(`${JSON.stringify(value)} cannot be an id`);
    return whole + encodeURIComponent(value) + text;
  });
}
function encodeQuery(query) {
  let pairs = [], add = (name, value) => {
    if (value != null)
      if (Array.isArray(value)) for (let item of value) add(name, item);
      else if (value instanceof Date) add(name, value.toISOString());
      else if (typeof value == "object") for (let [key, inner] of Object.entries(value)) add(`${name}[${key}]`, inner);
      else pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`);
  };
  for (let [name, value] of Object.entries(query ?? {})) add(name, value);
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

// clients/typescript/src/resource.ts
var APIResource = class {
  /** @internal */
  transport;
  constructor(transport) {
    this.transport = transport;
  }
};

// clients/typescript/src/generated/resources.ts
var IdentitiesKeys = class extends APIResource {
  /**
   * Creates an API key for an identity.
   *
   * The response contains the key, which is never shown again. The key does not expire unless `expires_at` is set. An
   * identity can have at most 50 keys. Requires a personal key.
   *
   * `POST /agent/identities/{identityUid}/keys`
   */
  create(identityUid, body, options) {
    return this.transport.request({ method: "POST", path: path`/agent/identities/${identityUid}/keys`, body, options });
  }
  /**
   * Lists the API keys of an identity, without their values.
   *
   * `GET /agent/identities/{identityUid}/keys`
   */
  list(identityUid, query, options) {
    return this.transport.page({ method: "GET", path: path`/agent/identities/${identityUid}/keys`, query, options }, (body) => body.keys);
  }
  /**
   * Revokes an API key of an identity.
   *
   * The key is refused from the next request. Requires a personal key.
   *
   * `DELETE /agent/identities/{identityUid}/keys/{keyUid}`
   */
  delete(identityUid, keyUid, options) {
    return this.transport.request({ method: "DELETE", path: path`/agent/identities/${identityUid}/keys/${keyUid}`, options });
  }
}, IdentitiesTrustRules = class extends APIResource {
  /**
   * Creates a trust rule of an identity.
   *
   * Tokens of the issuer that match the rule can be exchanged for API keys of the identity. An identity can have at
   * most 20 trust rules. Requires a personal key.
   *
   * `POST /agent/identities/{identityUid}/trust-rules`
   */
  create(identityUid, body, options) {
    return this.transport.request({ method: "POST", path: path`/agent/identities/${identityUid}/trust-rules`, body, options });
  }
  /**
   * Lists the trust rules of an identity, oldest first.
   *
   * `GET /agent/identities/{identityUid}/trust-rules`
   */
  list(identityUid, query, options) {
    return this.transport.page({ method: "GET", path: path`/agent/identities/${identityUid}/trust-rules`, query, options }, (body) => body.trust_rules);
  }
  /**
   * Returns a trust rule.
   *
   * `GET /agent/identities/{identityUid}/trust-rules/{ruleUid}`
   */
  retrieve(identityUid, ruleUid, options) {
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
  update(identityUid, ruleUid, body, options) {
    return this.transport.request({ method: "PUT", path: path`/agent/identities/${identityUid}/trust-rules/${ruleUid}`, body, options });
  }
  /**
   * Deletes a trust rule.
   *
   * The keys that it gave are refused from the next request. Requires a personal key.
   *
   * `DELETE /agent/identities/{identityUid}/trust-rules/{ruleUid}`
   */
  delete(identityUid, ruleUid, options) {
    return this.transport.request({ method: "DELETE", path: path`/agent/identities/${identityUid}/trust-rules/${ruleUid}`, options });
  }
};
var Runs = class extends APIResource {
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
  create(body, options) {
    return this.transport.request({ method: "POST", path: "/agent/runs", body, options });
  }
  /**
   * Checks a request for a run and creates nothing.
   *
   * The response says whether the run would be created, what to know before, and which configuration it would have.
   *
   * `POST /agent/runs`
   */
  dryRun(body, options) {
    return this.transport.request({ method: "POST", path: "/agent/runs", query: { dry_run: !0 }, body, options });
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
  list(query, options) {
    return this.transport.page({ method: "GET", path: "/agent/runs", query, options }, (body) => body.runs);
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
  cancelMany(body, options) {
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
  deleteMany(body, options) {
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
  archiveMany(body, options) {
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
  unarchiveMany(body, options) {
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
  retrieve(runId, options) {
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
  delete(runId, options) {
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
  cancel(runId, query, options) {
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
  archive(runId, options) {
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
  share(runId, body, options) {
    return this.transport.request({ method: "POST", path: path`/agent/runs/${runId}/share`, body, options });
  }
  /**
   * Returns an archived run to the list of runs.
   *
   * For a run that is not archived, this changes nothing.
   *
   * `POST /agent/runs/{runId}/unarchive`
   */
  unarchive(runId, options) {
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
  interrupt(runId, options) {
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
  sendFollowup(runId, body, options) {
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
  listFollowups(runId, query, options) {
    return this.transport.page({ method: "GET", path: path`/agent/runs/${runId}/followups`, query, options }, (body) => body.followups);
  }
  /**
   * Replaces the message of a pending follow-up.
   *
   * Returns 409 once the agent has taken the follow-up, and after it was removed.
   *
   * `PUT /agent/runs/{runId}/followups/{followupId}`
   */
  updateFollowup(runId, followupId, body, options) {
    return this.transport.request({ method: "PUT", path: path`/agent/runs/${runId}/followups/${followupId}`, body, options });
  }
  /**
   * Removes a pending follow-up, which the agent then never receives.
   *
   * It stays readable as `removed`. Returns 409 once the agent has taken the follow-up, and after it was removed.
   *
   * `DELETE /agent/runs/{runId}/followups/{followupId}`
   */
  deleteFollowup(runId, followupId, options) {
    return this.transport.request({ method: "DELETE", path: path`/agent/runs/${runId}/followups/${followupId}`, options });
  }
  /**
   * Promotes a pending follow-up to the agent's next message.
   *
   * Interrupts the current turn for it. Returns 409 once the agent has taken the follow-up, and after it was removed.
   *
   * `POST /agent/runs/{runId}/followups/{followupId}/promote`
   */
  promoteFollowup(runId, followupId, options) {
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
  timeline(runId, query, options) {
    return this.transport.page({ method: "GET", path: path`/agent/runs/${runId}/timeline`, query, options }, (body) => body.events);
  }
  /**
   * Returns the conversation of a run as normalized messages.
   *
   * A `QUEUED` run returns its prompt. Large tool outputs are truncated to 16 KiB; the transcript has the full text. A
   * conversation that a third-party harness stores in its own format returns 422.
   *
   * `GET /agent/runs/{runId}/conversation`
   */
  conversation(runId, query, options) {
    return this.transport.page({ method: "GET", path: path`/agent/runs/${runId}/conversation`, query, options }, (body) => body.steps);
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
  transcript(runId, options) {
    return this.transport.request({ method: "GET", path: path`/agent/runs/${runId}/transcript`, query: { redirect: !1 }, options });
  }
  /**
   * Finds the newest visible run that refers to a URL.
   *
   * It is the URL of the issue, pull request or thread whose event started the run, or of a pull request or external
   * reference among its artifacts, and is compared as it is. What earlier releases have recorded is not found.
   *
   * `GET /agent/run-by-external-reference`
   */
  findByReference(query, options) {
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
  handoffAttachments(runId, options) {
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
  listEvents(runId, query, options) {
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
  response(runId, options) {
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
  createClientEvent(runId, body, options) {
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
  retrievePublic(sessionId, query, options) {
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
  downloadPublicArtifact(sessionId, artifactUid, query, options) {
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
  prepareAttachments(runId, body, options) {
    return this.transport.request({ method: "POST", path: path`/agent/runs/${runId}/attachments/prepare`, body, options });
  }
  /**
   * Creates download URLs for attachments of a run and of its follow-ups.
   *
   * Returns 404 if one of them is not an attachment of this run.
   *
   * `POST /agent/runs/{runId}/attachments/download`
   */
  downloadAttachments(runId, body, options) {
    return this.transport.request({ method: "POST", path: path`/agent/runs/${runId}/attachments/download`, body, options });
  }
};
var Artifacts = class extends APIResource {
  /**
   * Returns an artifact with its content or a download URL.
   *
   * A plan is returned inline as Markdown; a file or a screenshot has a download URL that expires after 15 minutes by
   * default. Pull requests and external references have no content and return 404.
   *
   * `GET /agent/artifacts/{artifactUid}`
   */
  retrieve(artifactUid, options) {
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
  downloadUrl(artifactUid, query, options) {
    return this.transport.request({ method: "GET", path: path`/agent/artifacts/${artifactUid}/download`, query, options });
  }
};
var Identities = class extends APIResource {
  keys = new IdentitiesKeys(this.transport);
  trustRules = new IdentitiesTrustRules(this.transport);
  /**
   * Creates an identity, a service account for an agent.
   *
   * The optional members are defaults for the runs of the identity. Names are unique within the team; a name in use
   * returns 409. A team that has reached its `identity_limit` receives 403 `feature_not_available`. Requires a personal
   * key.
   *
   * `POST /agent/identities`
   */
  create(body, options) {
    return this.transport.request({ method: "POST", path: "/agent/identities", body, options });
  }
  /**
   * Lists the identities of the caller's teams, oldest first.
   *
   * `GET /agent/identities`
   */
  list(query, options) {
    return this.transport.page({ method: "GET", path: "/agent/identities", query, options }, (body) => body.agents);
  }
  /**
   * Returns an identity with its defaults for runs.
   *
   * `GET /agent/identities/{identityUid}`
   */
  retrieve(identityUid, options) {
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
  update(identityUid, body, options) {
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
  delete(identityUid, options) {
    return this.transport.request({ method: "DELETE", path: path`/agent/identities/${identityUid}`, options });
  }
}, Token = class extends APIResource {
  /**
   * Exchanges an OIDC token for an API key of an identity.
   *
   * The token may be that of a GitHub Actions job, for example. A trust rule of the identity must match the token's
   * `iss`, `aud` and `sub` claims; otherwise the response is 403 and names the claim. The key expires after the rule's
   * `ttl_seconds`. Requires no API key.
   *
   * `POST /agent/token`
   */
  create(body, options) {
    return this.transport.request({ method: "POST", path: "/agent/token", body, options });
  }
}, Environments = class extends APIResource {
  /**
   * Creates an environment of repositories, setup commands and secrets.
   *
   * The caller's team owns it unless `team` is false. Names are unique within the team or the person; a name in use
   * returns 409. A team or a person can have at most 200 environments, each up to 64 KiB as JSON.
   *
   * `POST /agent/environments`
   */
  create(body, options) {
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
  list(query, options) {
    return this.transport.page({ method: "GET", path: "/agent/environments", query, options }, (body) => body.environments);
  }
  /**
   * Returns an environment.
   *
   * With the token of its shared `link`, every caller with an API key can read it, without the details of its latest
   * run.
   *
   * `GET /agent/environments/{environmentUid}`
   */
  retrieve(environmentUid2, query, options) {
    return this.transport.request({ method: "GET", path: path`/agent/environments/${environmentUid2}`, query, options });
  }
  /**
   * Updates an environment.
   *
   * Members that are absent or null keep their values; an empty value (`""` or `[]`) clears one. Runs that have started
   * keep the previous environment.
   *
   * `PUT /agent/environments/{environmentUid}`
   */
  update(environmentUid2, body, options) {
    return this.transport.request({ method: "PUT", path: path`/agent/environments/${environmentUid2}`, body, options });
  }
  /**
   * Deletes an environment.
   *
   * Schedules and identities that refer to it create no runs until they name another environment.
   *
   * `DELETE /agent/environments/{environmentUid}`
   */
  delete(environmentUid2, options) {
    return this.transport.request({ method: "DELETE", path: path`/agent/environments/${environmentUid2}`, options });
  }
  /**
   * Shares an environment with a person or by link.
   *
   * A person can list the environment and use it for runs; the limit is 50 people. A link only shows the environment.
   * Its URL is returned once and replaces any earlier link.
   *
   * `POST /agent/environments/{environmentUid}/share`
   */
  share(environmentUid2, body, options) {
    return this.transport.request({ method: "POST", path: path`/agent/environments/${environmentUid2}/share`, body, options });
  }
  /**
   * Stops sharing an environment with a person or by link.
   *
   * Revoking a share that does not exist changes nothing.
   *
   * `DELETE /agent/environments/{environmentUid}/share`
   */
  unshare(environmentUid2, body, options) {
    return this.transport.request({ method: "DELETE", path: path`/agent/environments/${environmentUid2}/share`, body, options });
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
  tryOut(environmentUid2, options) {
    return this.transport.request({ method: "POST", path: path`/agent/environments/${environmentUid2}/try`, options });
  }
};

// clients/typescript/src/retry.ts
var LONGEST_WAIT = 6e4;
function waitBeforeRepeat(error, repeats) {
  if (!isRepeatable(error)) return;
  let wait = readRetryAfter(error.headers) ?? Math.random() * Math.min(8e3, 500 * 2 ** repeats);
  return wait <= LONGEST_WAIT ? wait : void 0;
}
function isRepeatable(error) {
  if (error instanceof APIUserAbortError) return !1;
  let { status, headers, retryable } = error, override = headers?.get("x-should-retry");
  return override === "true" || override === "false" ? override === "true" : status === void 0 || status === 408 || status === 429 || status >= 500 ? !0 : status === 409 && retryable === !0;
}
function readRetryAfter(headers) {
  let milliseconds = headers?.get("retry-after-ms")?.trim() ?? "";
  if (NUMBER.test(milliseconds)) return Number(milliseconds);
  let after = headers?.get("retry-after")?.trim() ?? "";
  if (NUMBER.test(after)) return Number(after) * 1e3;
  let date = /^[A-Z]/i.test(after) ? Date.parse(after) : Number.NaN;
  return Number.isNaN(date) ? void 0 : Math.max(0, date - Date.now());
}
var NUMBER = /^\d+(\.\d+)?$/;
function sleep(ms, signal) {
  return new Promise((resolve, reject) => {
    let end = () => {
      clearTimeout(timer), reject(new APIUserAbortError("The call was aborted.", { cause: signal?.reason }));
    }, timer = setTimeout(() => {
      signal?.removeEventListener("abort", end), resolve();
    }, ms);
    signal?.aborted ? end() : signal?.addEventListener("abort", end, { once: !0 });
  });
}

// clients/typescript/src/promise.ts
var APIPromise = class {
  [Symbol.toStringTag] = "APIPromise";
  #send;
  #read;
  #raw;
  constructor(send2) {
    this.#send = send2, queueMicrotask(() => {
      this.#raw === void 0 && (this.#read ??= this.#send(!0));
    });
  }
  /**
   * Returns the successful response with an unread body. Call it in the statement that makes the request: later, the
   * body may have been read.
   */
  async asResponse() {
    if (this.#read !== void 0)
      throw new RunyardError("asResponse() was called too late: the response is being read");
    return this.#raw ??= this.#send(!1), (await this.#raw).response;
  }
  /** Returns the data and the response. */
  async withResponse() {
    if (this.#raw !== void 0) throw new RunyardError("the raw response was requested, and cannot be read here");
    return this.#read ??= this.#send(!0), this.#read;
  }
  // biome-ignore lint/suspicious/noThenProperty: this is a promise.
  then(onFulfilled, onRejected) {
    return this.withResponse().then(({ data }) => data).then(onFulfilled, onRejected);
  }
  catch(onRejected) {
    return this.then(null, onRejected);
  }
  finally(onFinally) {
    return this.then().finally(onFinally);
  }
};

// clients/typescript/src/page.ts
var Page = class {
  /** The items of this page. */
  data;
  /** The complete response body. */
  body;
  #next;
  constructor(body, data, next) {
    this.body = body, this.data = data, this.#next = next;
  }
  get #cursor() {
    let { page_info } = this.body;
    return page_info?.has_next_page ? page_info.next_cursor : void 0;
  }
  hasNextPage() {
    return this.#cursor !== void 0;
  }
  /** Fetches the next page. Throws if there is none. */
  getNextPage() {
    if (this.#cursor === void 0) throw new RunyardError("This is the last page; check hasNextPage() first.");
    return this.#next(this.#cursor);
  }
  /** Iterates over this page and all following pages. */
  async *iterPages() {
    let page = this;
    for (yield page; page.hasNextPage(); )
      page = await page.getNextPage(), yield page;
  }
  async *[Symbol.asyncIterator]() {
    for await (let page of this.iterPages()) yield* page.data;
  }
}, PagePromise = class extends APIPromise {
  constructor(send2, getItems, next) {
    super(async (read) => {
      let { data, response } = await send2(read);
      return { data: new Page(data, read ? getItems(data) : [], next), response };
    });
  }
  async *[Symbol.asyncIterator]() {
    yield* await this;
  }
};

// clients/typescript/src/version.ts
var VERSION = "0.1.0";

// clients/typescript/src/transport.ts
var LONGEST_TIMER = 2 ** 31 - 1, Transport = class {
  #options;
  #baseURL;
  #apiKey;
  constructor(options) {
    this.#options = options;
    let apiKey = required("apiKey", options.apiKey, "RUNYARD_API_KEY");
    if (this.#apiKey = typeof apiKey == "function" ? apiKey : checkKey(apiKey), this.#baseURL = required("baseURL", options.baseURL, "RUNYARD_BASE_URL").replace(/(?<!\/)\/+$/, ""), !/^(https?:\/)?\//i.test(this.#baseURL))
      throw new RunyardError(`The baseURL must begin with http:// or https://, not ${JSON.stringify(this.#baseURL)}.`);
  }
  get baseURL() {
    return this.#baseURL;
  }
  /** The default timeout of an attempt, in milliseconds. */
  get timeout() {
    return this.#options.timeout ?? 6e4;
  }
  /** Waits between attempts and between polls. */
  sleep(ms, signal) {
    return (this.#options.sleep ?? sleep)(ms, signal);
  }
  /** Sends an API request. The response is returned as T without validation. */
  request(request) {
    return new APIPromise((read) => this.#send(request, read));
  }
  /** Requests a page of a list, and the following pages with the same query. */
  page(request, getItems) {
    return new PagePromise(
      (read) => this.#send(request, read),
      getItems,
      (cursor) => this.page({ ...request, query: { ...request.query, cursor } }, getItems)
    );
  }
  /** Fetches a signed URL of the storage, without the API's headers and credentials. */
  async storage(url, init, options = {}) {
    let headers = async () => new Headers(init.headers);
    return (await this.#repeat({ url, init, headers, options })).response;
  }
  async #send(request, read) {
    let { method, body, query, options = {} } = request, idempotencyKey = method === "POST" ? options.idempotencyKey ?? randomKey() : void 0, prepared = {
      url: `${this.#baseURL}${request.path}${encodeQuery(query)}`,
      init: { method, ...body === void 0 ? {} : { body: JSON.stringify(body) } },
      headers: () => this.#headers(request, idempotencyKey),
      options
    };
    return read ? this.#repeat(prepared, async (response) => {
      let text = await response.text();
      if (text === "" && [202, 204].includes(response.status)) return;
      if (request.responseType === "text") return text;
      let data = parseJson(response, text), warnings = listWarnings(data, text);
      return warnings.length > 0 && (this.#options.onWarnings ?? printWarnings)(warnings), data;
    }) : this.#repeat(prepared);
  }
  async #headers({ body, responseType = "json", options = {} }, idempotencyKey) {
    let key = typeof this.#apiKey == "function" ? checkKey(await this.#apiKey()) : this.#apiKey, team = options.team ?? this.#options.team, headers = new Headers({
      accept: responseType === "json" ? "application/json" : "text/*",
      authorization: `Bearer ${key}`
    });
    environment()?.versions?.node !== void 0 && headers.set("user-agent", `runyard-typescript/${VERSION}`), body !== void 0 && headers.set("content-type", "application/json"), team !== void 0 && headers.set("x-team-uid", team), idempotencyKey !== void 0 && headers.set("idempotency-key", idempotencyKey);
    for (let [name, value] of Object.entries({ ...this.#options.headers, ...options.headers }))
      headers.set(name, value);
    return headers;
  }
  async #repeat(request, read) {
    let maxRetries = request.options.maxRetries ?? this.#options.maxRetries ?? 2;
    for (let repeats = 0; ; repeats++)
      try {
        let headers = await request.headers();
        return repeats > 0 && headers.set("x-stainless-retry-count", String(repeats)), await this.#attempt(request, headers, read);
      } catch (error) {
        let wait = error instanceof APIError ? waitBeforeRepeat(error, repeats) : void 0;
        if (wait === void 0 || repeats >= maxRetries) throw error;
        await this.sleep(wait, request.options.signal);
      }
  }
  async #attempt(request, headers, read) {
    let { signal, timeout = this.timeout } = request.options, controller = new AbortController(), abort = () => controller.abort(signal?.reason), late = !1, timer = setTimeout(
      () => {
        late = !0, controller.abort();
      },
      Math.min(timeout, LONGEST_TIMER)
    );
    signal?.aborted && abort(), signal?.addEventListener("abort", abort);
    try {
      let response = await (this.#options.fetch ?? globalThis.fetch)(request.url, { ...request.init, headers, signal: controller.signal });
      if (!response.ok) throw toAPIError(response, await response.text());
      return { response, data: await read?.(response) };
    } catch (error) {
      throw error instanceof APIError ? error : signal?.aborted ? new APIUserAbortError("The call was aborted.", { cause: signal.reason }) : late ? new APITimeoutError(`No response within ${timeout} ms.`, { cause: error }) : new APIConnectionError(`The connection failed: ${formatError(error)}`, { cause: error });
    } finally {
      clearTimeout(timer), read !== void 0 && signal?.removeEventListener("abort", abort);
    }
  }
};
function listWarnings(data, text) {
  if (!text.includes('"warnings"') || typeof data != "object" || data === null) return [];
  let warnings = Reflect.get(data, "warnings");
  return Array.isArray(warnings) ? warnings.filter(isWarning) : [];
}
var isWarning = (value) => typeof value == "object" && value !== null && ["code", "path", "message"].every((name) => typeof Reflect.get(value, name) == "string");
function printWarnings(warnings) {
  for (let { path: path3, message } of warnings) console.warn(`Runyard: ${path3}: ${message}`);
}
function required(name, given, variable) {
  let value = given ?? environment()?.env?.[variable];
  if (value === void 0 || value === "")
    throw new RunyardError(`There is no ${name}: pass it to new Runyard({ ${name} }), or set ${variable}.`);
  return value;
}
function checkKey(apiKey) {
  let key = apiKey.trim();
  if (!/^[!-~]+$/.test(key))
    throw new RunyardError("The API key has characters that no key has, such as a line break.");
  return key;
}
function environment() {
  return Reflect.get(globalThis, "process");
}
function randomKey() {
  let bytes = crypto.getRandomValues(new Uint8Array(16));
  return `runyard-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
function parseJson(response, text) {
  let type = response.headers.get("content-type")?.split(";")[0] ?? "";
  if (type === "" || type.includes("json")) return JSON.parse(text);
  throw new APIConnectionError(`The response is ${type}, not JSON: check that the base URL ends in /api/v1.`);
}
function formatError(error) {
  return error instanceof Error ? error.cause instanceof Error ? error.cause.message : error.message : String(error);
}

// clients/typescript/src/stream/event-parser.ts
function createEventParser() {
  let rest = "", name = "", data = [], retry, readLine = (line) => {
    if (line === "") {
      let event = { name: name || "message", data: data.join(`
`) }, isEvent = data.length > 0;
      return name = "", data = [], isEvent ? [event] : [];
    }
    let colon = line.indexOf(":"), field = colon === -1 ? line : line.slice(0, colon), value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    return field === "event" && (name = value), field === "data" && data.push(value), field === "retry" && /^\d+$/.test(value) && (retry = Number(value)), [];
  };
  return {
    push(piece) {
      let text = rest + piece, isCut = text.endsWith("\r"), lines = (isCut ? text.slice(0, -1) : text).split(/\r\n|\n|\r/);
      return rest = (lines.pop() ?? "") + (isCut ? "\r" : ""), lines.flatMap(readLine);
    },
    retry: () => retry
  };
}

// clients/typescript/src/stream/frame-filter.ts
function createFrameFilter() {
  let ends = /* @__PURE__ */ new Map(), finished = /* @__PURE__ */ new Set(), encoder = new TextEncoder(), decoder = new TextDecoder();
  return {
    take(frame) {
      let id = frame.action_id ?? frame.message_id ?? "";
      if (finished.has(id)) return;
      let key = `${frame.stream} ${id}`, end = ends.get(key) ?? 0, bytes = encoder.encode(frame.text), seen = end - frame.offset;
      if (!(seen >= bytes.length))
        return ends.set(key, frame.offset + bytes.length), seen <= 0 ? frame : { ...frame, offset: end, text: decoder.decode(bytes.subarray(seen)) };
    },
    note(event) {
      for (let id of finishedIds(event)) {
        finished.add(id);
        for (let stream of ["stdout", "stderr", "text"]) ends.delete(`${stream} ${id}`);
      }
    }
  };
}
function finishedIds({ type, data }) {
  let messages = type === "messages" ? data.messages : void 0;
  return toList(messages).flatMap((message) => toList(memberOf(message, "content"))).flatMap((block) => {
    let id = memberOf(block, memberOf(block, "type") === "text" ? "message_id" : "action_id");
    return typeof id == "string" ? [id] : [];
  });
}
var toList = (value) => Array.isArray(value) ? value : [], memberOf = (value, name) => typeof value == "object" && value !== null ? Reflect.get(value, name) : void 0;

// clients/typescript/src/stream/run-stream.ts
var SILENCE_MS = 45e3, DEFAULT_RETRY_MS = 1e3;
async function* streamRun(after, source) {
  let reader = createReader(after), position;
  for (let failures = 0; ; ) {
    let began = Date.now(), isNew = !1, wait = DEFAULT_RETRY_MS;
    try {
      for await (let part of readConnection(reader.last(), reader.liveAfter(), source)) {
        if (part.kind === "end") return;
        part.kind === "retry" && (wait = part.ms), part.kind === "waiting" && part.position !== position && (position = part.position, source.onWaiting?.(position));
        let item = reader.take(part);
        if (item === "gap") break;
        item !== void 0 && (isNew = !0, failures = 0, yield item);
      }
    } catch (error) {
      let ms = error instanceof APIError ? waitBeforeRepeat(error, failures) : void 0;
      if (ms === void 0 || failures >= source.maxRetries) throw error;
      failures++, await source.sleep(ms);
      continue;
    }
    failures = 0, isNew || await source.sleep(Math.max(0, wait - (Date.now() - began)));
  }
}
function createReader(after) {
  let frames = createFrameFilter(), last = after, liveAfter;
  return {
    last: () => last,
    liveAfter: () => liveAfter,
    /** Returns what is new in a part, or "gap" if an event before it is missing. */
    take(part) {
      if (part.kind === "position" && (liveAfter = part.liveAfter), part.kind === "live") {
        let frame = frames.take(part.frame);
        return frame === void 0 ? void 0 : { kind: "live", frame };
      }
      if (!(part.kind !== "event" || part.event.sequence <= last))
        return part.event.sequence > last + 1 ? "gap" : (last = part.event.sequence, frames.note(part.event), part);
    }
  };
}
async function* readConnection(after, liveAfter, { request, signal, timeout }) {
  let controller = new AbortController(), abort = () => controller.abort(signal?.reason);
  signal?.aborted && abort(), signal?.addEventListener("abort", abort);
  try {
    let began = Date.now(), response = await request(after, liveAfter, controller.signal);
    response.headers.get("content-type")?.startsWith("text/event-stream") ? yield* readStream(response, controller) : yield* readPage(JSON.parse(await within(timeout - (Date.now() - began), response.text(), controller)));
  } catch (error) {
    throw signal?.aborted ? new APIUserAbortError("The call was aborted.", { cause: signal.reason }) : error instanceof RunyardError ? error : new APIConnectionError(`The connection failed: ${String(error)}`, { cause: error });
  } finally {
    signal?.removeEventListener("abort", abort), controller.abort();
  }
}
function* readPage({ events, ended: ended2, live = [], live_next, waiting }) {
  for (let event of events) yield { kind: "event", event };
  for (let frame of live) yield { kind: "live", frame };
  waiting !== void 0 && (yield { kind: "waiting", position: waiting.position }), live_next !== void 0 && (yield { kind: "position", liveAfter: live_next }), ended2 && (yield { kind: "end" });
}
async function* readStream({ body }, connection) {
  if (body === null) return;
  let parser = createEventParser(), decoder = new TextDecoder(), reader = body.getReader();
  for (; ; ) {
    let { done, value } = await within(SILENCE_MS, reader.read(), connection);
    if (done) break;
    for (let { name, data } of parser.push(decoder.decode(value, { stream: !0 })))
      name === "message" && (yield { kind: "event", event: JSON.parse(data) }), name === "live" && (yield { kind: "live", frame: JSON.parse(data) }), name === "waiting" && (yield { kind: "waiting", position: JSON.parse(data).position }), name === "end" && (yield { kind: "end" });
  }
  let ms = parser.retry();
  ms !== void 0 && (yield { kind: "retry", ms });
}
function within(ms, part, connection) {
  let timer = setTimeout(() => connection.abort(new APITimeoutError("The response took too long.")), Math.min(ms, LONGEST_TIMER));
  return part.finally(() => clearTimeout(timer));
}

// clients/typescript/src/resources/artifacts.ts
var Artifacts2 = class extends Artifacts {
  /** Downloads the content of an artifact, including the text of a plan, as a streamed response. */
  async download(artifactUid, options) {
    let { data } = await this.retrieve(artifactUid, options);
    return "content" in data ? new Response(String(data.content), { headers: { "content-type": data.content_type } }) : this.transport.storage(data.download_url, {}, options);
  }
};

// clients/typescript/src/resources/attachments.ts
async function describeFile(file) {
  let digest = await crypto.subtle.digest("SHA-256", await file.arrayBuffer()), sha256 = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { size_bytes: file.size, sha256 };
}
async function storeFile(target, file, transport, options) {
  let timeout = options?.timeout ?? transport.timeout + file.size / 50;
  try {
    await transport.storage(target.url, toRequestInit(target, file), { ...options, timeout });
  } catch (error) {
    if (!(error instanceof APIError) || error.status !== 412) throw error;
  }
}
function toRequestInit({ method, headers, fields }, data) {
  let init = { method, headers: headers ?? {} };
  if (fields === void 0) return { ...init, body: data };
  let form = new FormData();
  for (let { name, value } of fields) {
    if (value.kind === "content_crc32c")
      throw new RunyardError("This storage asks for a CRC-32C, which is not supported.");
    form.append(name, value.kind === "static" ? value.value : data);
  }
  return { ...init, body: form };
}

// clients/typescript/src/resources/runs.ts
var FOLLOW_RETRIES = 30, ENDED = /* @__PURE__ */ new Set(["SUCCEEDED", "FAILED", "ERROR", "BLOCKED", "CANCELLED"]), Runs2 = class extends Runs {
  /**
   * Iterates over the events of a run as they happen, in order and without duplicates, until the run has ended. Resumes
   * after connection errors.
   */
  async *events(runId, { after = 0, wait = 25, ...options } = {}) {
    let { timeout = this.transport.timeout, maxRetries = FOLLOW_RETRIES } = options, request = { ...options, maxRetries, timeout: timeout + wait * 1e3 };
    for (let last = after; ; ) {
      let began = Date.now(), { events, next, ended: ended2 } = await this.listEvents(runId, { after: last, wait }, request);
      if (yield* events, ended2) return;
      last = next, events.length === 0 && Date.now() - began < 1e3 && await this.transport.sleep(1e3, options.signal);
    }
  }
  /**
   * Iterates over the events of a run as they happen, in order and without duplicates, and over the output that it is
   * producing, until the run has ended. Reconnects after errors. Uses server-sent events, or long polling where the
   * deployment cannot stream.
   *
   * ```ts
   * for await (const item of client.runs.stream(runId)) {
   *   if (item.kind === "live") process.stdout.write(item.frame.text);
   *   else console.log(item.event.type);
   * }
   * ```
   */
  stream(runId, { after = 0, wait = 25, live = !0, onWaiting, ...options } = {}) {
    let { maxRetries = FOLLOW_RETRIES, signal, headers } = options, timeout = (options.timeout ?? this.transport.timeout) + wait * 1e3;
    return streamRun(after, {
      maxRetries,
      timeout,
      signal,
      onWaiting,
      sleep: (ms) => this.transport.sleep(ms, signal),
      request: (last, liveAfter, signal2) => {
        let query = {
          after: last,
          wait,
          ...live && { live },
          ...liveAfter !== void 0 && { live_after: liveAfter }
        }, accept = { accept: "text/event-stream, application/json", "last-event-id": String(last) }, request = { ...options, maxRetries: 0, signal: signal2, timeout };
        return this.listEvents(runId, query, { ...request, headers: { ...headers, ...accept } }).asResponse();
      }
    });
  }
  /**
   * Follows a run until it ends and returns it. A failed run is returned too, not thrown: see its `state` and
   * `status_message`.
   * @throws RunTimeoutError if it has not ended within `maxWait`
   */
  async followUntilDone(runId, { maxWait, ...options } = {}) {
    if (maxWait === void 0) return this.#follow(runId, options);
    let limit = AbortSignal.timeout(Math.min(maxWait, LONGEST_TIMER)), { signal } = options;
    try {
      let either = signal === void 0 ? limit : AbortSignal.any([signal, limit]);
      return await this.#follow(runId, { ...options, signal: either });
    } catch (error) {
      throw error instanceof APIUserAbortError && error.cause === limit.reason ? new RunTimeoutError(runId, maxWait) : error;
    }
  }
  async #follow(runId, { onEvent, onLive, onWaiting, after = 0, ...options }) {
    let last = after, before;
    for (; ; ) {
      for await (let item of this.#items(runId, { ...options, after: last }, onLive && { onWaiting }))
        item.kind === "event" && (last = item.event.sequence), await (item.kind === "event" ? onEvent?.(item.event) : onLive?.(item.frame));
      let { maxRetries = FOLLOW_RETRIES } = options, run = await this.retrieve(runId, { ...options, maxRetries });
      if (ENDED.has(run.state) || last === before) return run;
      before = last;
    }
  }
  /** Creates a run, follows it until it ends and returns it; see `followUntilDone`. */
  async createAndWait(body, options = {}) {
    let { run_id } = await this.create(body, options);
    return this.followUntilDone(run_id, options);
  }
  /**
   * Uploads a file of up to 100 MB for a follow-up to a run, and returns its attachment_id, for
   * `attachments: [{ attachment_id }]` of the follow-up.
   */
  async uploadAttachment(runId, { file_name, mime_type = "application/octet-stream", data }, options) {
    let blob = new Blob([data], { type: mime_type }), files = [{ filename: file_name, mime_type, ...await describeFile(blob) }], { attachments } = await this.prepareAttachments(runId, { files }, options), [prepared] = attachments;
    if (prepared === void 0) throw new RunyardError("The response has no attachment.");
    return await storeFile(prepared.upload_target, blob, this.transport, options), prepared.attachment_id;
  }
  async *#items(runId, options, live) {
    if (live !== void 0) yield* this.stream(runId, { ...options, ...live });
    else for await (let event of this.events(runId, options)) yield { kind: "event", event };
  }
  /**
   * Downloads the content of each artifact of a run as a streamed response, with a path to save it to. Artifacts without content, such
   * as pull requests, are left out.
   */
  async *downloadArtifacts(runId, options) {
    let { artifacts = [] } = await this.retrieve(runId, options), downloads = new Artifacts2(this.transport);
    for (let file of planArtifactFiles(artifacts))
      yield { ...file, response: await downloads.download(file.artifact_uid, options) };
  }
  /**
   * Downloads the run's raw transcript, a JSON Lines file, as a streamed response. Waits for the transcript of a run
   * that has just ended: `maxRetries` retries, 30 by default, a second apart.
   */
  async downloadTranscript(runId, options = {}) {
    let { maxRetries = FOLLOW_RETRIES } = options, { download_url } = await this.transcript(runId, { ...options, maxRetries });
    return this.transport.storage(download_url, {}, options);
  }
};

// cli/src/exit-code.ts
var EXIT = {
  ok: 0,
  /** The run that was followed ended FAILED or ERROR, or the command could not do its work. */
  failed: 1,
  /** The command line is wrong, or no service is configured; nothing was sent. */
  usage: 2,
  /** The run has a question, and waits for `runyard runs followup`. */
  blocked: 3,
  /** The service refused the request, or could not be reached. */
  service: 4,
  /** The run was cancelled, or the following of it was interrupted. */
  cancelled: 130,
  /** The reader of the output closed it: 128 and the number of SIGPIPE, as of other programs. */
  outputClosed: 141
};

// shared/wire/terminal-text.ts
function createTerminalParser() {
  let state = "text", length = 0, become = (next) => (state = next, length = 0, !0), start = (code) => code === 27 ? become("escape") : code === 155 ? become("control") : isStringStart(code - 64) ? become("string") : (state = "text", !1), follow2 = {
    text: start,
    escape(code) {
      return code === 91 ? become("control") : isStringStart(code) ? become("string") : isBetween(code, 32, 47) && ++length <= 64 ? !0 : isBetween(code, 48, 126) ? become("text") : start(code);
    },
    control(code) {
      return isBetween(code, 32, 63) && ++length <= 64 ? !0 : isBetween(code, 64, 126) ? become("text") : start(code);
    },
    string(code) {
      return code === 27 ? become("stringEscape") : code === 7 || code === 156 ? become("text") : ++length <= 4096 ? !0 : start(code);
    },
    stringEscape: (code) => code === 92 ? become("text") : follow2.escape(code)
  };
  return { next: (code) => follow2[state](code) };
}
var isBetween = (code, first, last) => code >= first && code <= last, isStringStart = (code) => [80, 88, 93, 94, 95].includes(code), isControl = (code) => code < 32 && code !== 9 && code !== 10 && code !== 13 || isBetween(code, 127, 159), OBEYED = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/, COLOR = /^\u001b\[[0-9;:]*m$/;
function stripTerminal(text, keepsColors = !1) {
  if (!OBEYED.test(text)) return text;
  let parser = createTerminalParser(), visibleText = "", sequence = "";
  for (let place = 0; place < text.length; place++) {
    let code = text.charCodeAt(place);
    parser.next(code) ? (sequence = code === 27 ? text.charAt(place) : sequence + text.charAt(place), keepsColors && code === 109 && sequence.length <= 67 && COLOR.test(sequence) && (visibleText += sequence)) : (sequence = "", isControl(code) || (visibleText += text.charAt(place)));
  }
  return visibleText;
}

// cli/src/terminal-text.ts
var UNSAFE = /(?!\n)[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu, LINE_ENDS = /\r\n|[\n\v\f\r\u0085\p{Zl}\p{Zp}]/gu, printable = (text) => stripTerminal(text).replaceAll("	", "  ").replace(UNSAFE, ""), oneLine = (text) => printable(text.replace(LINE_ENDS, " ")), ESCAPE = "\x1B", OUR_STYLES = new RegExp(`(${ESCAPE}\\[(?:[0-2]|3[1-3])m)`);

// cli/src/problem.ts
var Problem = class extends Error {
  exitCode;
  /** How to fix it. */
  remedy;
  constructor(message, { exitCode = EXIT.failed, remedy } = {}) {
    super(message), this.exitCode = exitCode, this.remedy = remedy;
  }
}, usage = (message, remedy) => new Problem(message, { exitCode: EXIT.usage, ...remedy === void 0 ? {} : { remedy } });
function explain(error, connection) {
  if (error instanceof Problem) return { lines: withRemedy([error.message], error.remedy), exitCode: error.exitCode };
  if (error instanceof APIConnectionError) {
    let remedy = error instanceof APITimeoutError ? "The service may be busy. Try again." : `Check that the service is running and the base URL is right${connection ? `: ${connection.baseURL}` : "."}`;
    return { lines: withRemedy([error.message], remedy), exitCode: EXIT.service };
  }
  return error instanceof APIError ? { lines: withRemedy(describeResponse(error), findRemedy(error, connection?.from)), exitCode: EXIT.service } : error instanceof RunyardError ? { lines: [error.message], exitCode: EXIT.usage } : { lines: [error instanceof Error ? error.message : String(error)], exitCode: EXIT.failed };
}
var withRemedy = (lines, remedy) => [
  ...lines.map(printable),
  ...remedy === void 0 ? [] : [remedy]
];
function describeResponse(error) {
  let what = oneLine(error.title === void 0 ? error.message : `${error.title} (${error.status})`), fields = error.errors.filter(({ message }) => !error.detail?.includes(message));
  return [
    error.detail === void 0 ? what : `${what}: ${oneLine(error.detail)}`,
    ...fields.map(({ path: path3, message }) => `  ${oneLine(path3)}: ${oneLine(message)}`),
    ...error.traceId === void 0 ? [] : [`  trace id: ${oneLine(error.traceId)}`]
  ];
}
function findRemedy(error, keyFrom = "") {
  if (error.detail?.includes("X-Team-Uid")) return "Choose a team with --team; `runyard whoami` lists yours.";
  switch (error.status) {
    case 401:
      return `The key${keyFrom === "" ? "" : ` ${keyFrom}`} is invalid or expired. \`runyard login\` stores another${keyFrom.includes("RUNYARD_API_KEY") ? ", once the variable is unset" : ""}.`;
    case 403:
      return "This key lacks the permission. `runyard whoami` shows its owner; only personal keys can manage resources.";
    case 404:
      return "Check the id, and that the key belongs to the right team. The `list` commands show what exists.";
    case 413:
      return "Attach long texts as files: `runyard run --attach`.";
    case 422:
      return error.detail?.includes("force=true") ? "Cancel it with `runyard runs cancel --force`." : void 0;
    case 429:
      return "Too many requests, or the queue is full. Try again in a moment.";
    default:
      return error.retryable === !0 ? "Try again." : void 0;
  }
}

// cli/src/names.ts
var UID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
async function* listEnvironments(client) {
  for await (let { uid, config } of client.environments.list()) yield { uid, name: config.name };
}
async function* listAgents(client) {
  for await (let { uid, name } of client.identities.list()) yield { uid, name };
}
var environmentUid = (client, given) => resolveUid("environment", given, listEnvironments(client)), agentUid = (client, given) => resolveUid("agent", given, listAgents(client));
async function resolveUid(kind, given, items) {
  if (UID.test(given)) return given;
  let all = [];
  for await (let item of items) all.push(item);
  let found = all.filter(({ uid, name }) => uid === given || name === given);
  if (found.length > 1)
    throw usage(`Several have the name ${given}: ${found.map(({ uid }) => uid).join(", ")}.`, "Use the uid.");
  let [one] = found;
  if (one !== void 0) return one.uid;
  let names = all.map(({ name }) => name).slice(0, 20);
  throw usage(`There is no ${kind} ${given}.`, names.length === 0 ? void 0 : `There are: ${names.join(", ")}.`);
}

// node_modules/valibot/dist/index.mjs
var store$4, DEFAULT_CONFIG = {
  lang: void 0,
  message: void 0,
  abortEarly: void 0,
  abortPipeEarly: void 0
};
// @__NO_SIDE_EFFECTS__
function getGlobalConfig(config$1) {
  return !config$1 && !store$4 ? DEFAULT_CONFIG : {
    lang: config$1?.lang ?? store$4?.lang,
    message: config$1?.message,
    abortEarly: config$1?.abortEarly ?? store$4?.abortEarly,
    abortPipeEarly: config$1?.abortPipeEarly ?? store$4?.abortPipeEarly
  };
}
var store$3;
// @__NO_SIDE_EFFECTS__
function getGlobalMessage(lang) {
  return store$3?.get(lang);
}
var store$2;
// @__NO_SIDE_EFFECTS__
function getSchemaMessage(lang) {
  return store$2?.get(lang);
}
var store$1;
// @__NO_SIDE_EFFECTS__
function getSpecificMessage(reference, lang) {
  return store$1?.get(reference)?.get(lang);
}
// @__NO_SIDE_EFFECTS__
function _stringify(input2) {
  let type = typeof input2;
  return type === "string" ? `"${input2}"` : type === "number" || type === "bigint" || type === "boolean" ? `${input2}` : type === "object" || type === "function" ? (input2 && Object.getPrototypeOf(input2)?.constructor?.name) ?? "null" : type;
}
function _addIssue(context, label, dataset, config$1, other) {
  let input2 = other && "input" in other ? other.input : dataset.value, expected = other?.expected ?? context.expects ?? null, received = other?.received ?? /* @__PURE__ */ _stringify(input2), issue = {
    kind: context.kind,
    type: context.type,
    input: input2,
    expected,
    received,
    message: `Invalid ${label}: ${expected ? `Expected ${expected} but r` : "R"}eceived ${received}`,
    requirement: context.requirement,
    path: other?.path,
    issues: other?.issues,
    lang: config$1.lang,
    abortEarly: config$1.abortEarly,
    abortPipeEarly: config$1.abortPipeEarly
  }, isSchema = context.kind === "schema", message$1 = other?.message ?? context.message ?? /* @__PURE__ */ getSpecificMessage(context.reference, issue.lang) ?? (isSchema ? /* @__PURE__ */ getSchemaMessage(issue.lang) : null) ?? config$1.message ?? /* @__PURE__ */ getGlobalMessage(issue.lang);
  message$1 !== void 0 && (issue.message = typeof message$1 == "function" ? message$1(issue) : message$1), isSchema && (dataset.typed = !1), dataset.issues ? dataset.issues.push(issue) : dataset.issues = [issue];
}
// @__NO_SIDE_EFFECTS__
function _isSameValueZero(value1, value2) {
  return value1 === value2 || Number.isNaN(value1) && Number.isNaN(value2);
}
// @__NO_SIDE_EFFECTS__
function _isValidObjectKey(object$1, key) {
  return Object.prototype.hasOwnProperty.call(object$1, key) && key !== "__proto__" && key !== "prototype" && key !== "constructor";
}
// @__NO_SIDE_EFFECTS__
function _joinExpects(values$1, separator) {
  let list = [...new Set(values$1)];
  return list.length > 1 ? `(${list.join(` ${separator} `)})` : list[0] ?? "never";
}
function _standardSchema(schema) {
  return schema["~standard"] = {
    version: 1,
    vendor: "valibot",
    validate: (value$1) => schema["~run"]({ value: value$1 }, /* @__PURE__ */ getGlobalConfig())
  }, schema;
}
var ValiError = class extends Error {
  /**
  * Creates a Valibot error with useful information.
  *
  * @param issues The error issues.
  */
  constructor(issues) {
    super(issues[0].message), this.name = "ValiError", this.issues = issues;
  }
};
var EMOJI_REGEX = new RegExp("^(?:[\\u{1F1E6}-\\u{1F1FF}]{2}|\\u{1F3F4}[\\u{E0061}-\\u{E007A}]{2}[\\u{E0030}-\\u{E0039}\\u{E0061}-\\u{E007A}]{1,3}\\u{E007F}|(?:\\p{Emoji}\\uFE0F\\u20E3?|\\p{Emoji_Modifier_Base}\\p{Emoji_Modifier}?|(?![\\p{Emoji_Modifier_Base}\\u{1F1E6}-\\u{1F1FF}])\\p{Emoji_Presentation})(?:\\u200D(?:\\p{Emoji}\\uFE0F\\u20E3?|\\p{Emoji_Modifier_Base}\\p{Emoji_Modifier}?|(?![\\p{Emoji_Modifier_Base}\\u{1F1E6}-\\u{1F1FF}])\\p{Emoji_Presentation}))*)+$", "u");
// @__NO_SIDE_EFFECTS__
function parseJson2(config$1, message$1) {
  return {
    kind: "transformation",
    type: "parse_json",
    reference: parseJson2,
    config: config$1,
    message: message$1,
    async: !1,
    "~run"(dataset, config$2) {
      try {
        dataset.value = JSON.parse(dataset.value, this.config?.reviver);
      } catch (error) {
        if (error instanceof Error)
          _addIssue(this, "JSON", dataset, config$2, { received: `"${error.message}"` }), dataset.typed = !1;
        else throw error;
      }
      return dataset;
    }
  };
}
var ABORT_EARLY_CONFIG = { abortEarly: !0 };
// @__NO_SIDE_EFFECTS__
function getFallback(schema, dataset, config$1) {
  return typeof schema.fallback == "function" ? schema.fallback(dataset, config$1) : schema.fallback;
}
// @__NO_SIDE_EFFECTS__
function getDefault(schema, dataset, config$1) {
  return typeof schema.default == "function" ? schema.default(dataset, config$1) : schema.default;
}
// @__NO_SIDE_EFFECTS__
function array(item, message$1) {
  return _standardSchema({
    kind: "schema",
    type: "array",
    reference: array,
    expects: "Array",
    async: !1,
    item,
    message: message$1,
    "~run"(dataset, config$1) {
      let input2 = dataset.value;
      if (Array.isArray(input2)) {
        dataset.typed = !0, dataset.value = [];
        for (let key = 0; key < input2.length; key++) {
          let value$1 = input2[key], itemDataset = this.item["~run"]({ value: value$1 }, config$1);
          if (itemDataset.issues) {
            let pathItem = {
              type: "array",
              origin: "value",
              input: input2,
              key,
              value: value$1
            };
            for (let issue of itemDataset.issues)
              issue.path ? issue.path.unshift(pathItem) : issue.path = [pathItem], dataset.issues?.push(issue);
            if (dataset.issues || (dataset.issues = itemDataset.issues), config$1.abortEarly) {
              dataset.typed = !1;
              break;
            }
          }
          itemDataset.typed || (dataset.typed = !1), dataset.value.push(itemDataset.value);
        }
      } else _addIssue(this, "type", dataset, config$1);
      return dataset;
    }
  });
}
// @__NO_SIDE_EFFECTS__
function boolean(message$1) {
  return _standardSchema({
    kind: "schema",
    type: "boolean",
    reference: boolean,
    expects: "boolean",
    async: !1,
    message: message$1,
    "~run"(dataset, config$1) {
      return typeof dataset.value == "boolean" ? dataset.typed = !0 : _addIssue(this, "type", dataset, config$1), dataset;
    }
  });
}
// @__NO_SIDE_EFFECTS__
function literal(literal_, message$1) {
  return _standardSchema({
    kind: "schema",
    type: "literal",
    reference: literal,
    expects: /* @__PURE__ */ _stringify(literal_),
    async: !1,
    literal: literal_,
    message: message$1,
    "~run"(dataset, config$1) {
      return /* @__PURE__ */ _isSameValueZero(dataset.value, this.literal) ? dataset.typed = !0 : _addIssue(this, "type", dataset, config$1), dataset;
    }
  });
}
// @__NO_SIDE_EFFECTS__
function nullable(wrapped, default_) {
  return _standardSchema({
    kind: "schema",
    type: "nullable",
    reference: nullable,
    expects: `(${wrapped.expects} | null)`,
    async: !1,
    wrapped,
    default: default_,
    "~run"(dataset, config$1) {
      return dataset.value === null && (this.default !== void 0 && (dataset.value = /* @__PURE__ */ getDefault(this, dataset, config$1)), dataset.value === null) ? (dataset.typed = !0, dataset) : this.wrapped["~run"](dataset, config$1);
    }
  });
}
// @__NO_SIDE_EFFECTS__
function nullish(wrapped, default_) {
  return _standardSchema({
    kind: "schema",
    type: "nullish",
    reference: nullish,
    expects: `(${wrapped.expects} | null | undefined)`,
    async: !1,
    wrapped,
    default: default_,
    "~run"(dataset, config$1) {
      return (dataset.value === null || dataset.value === void 0) && (this.default !== void 0 && (dataset.value = /* @__PURE__ */ getDefault(this, dataset, config$1)), dataset.value === null || dataset.value === void 0) ? (dataset.typed = !0, dataset) : this.wrapped["~run"](dataset, config$1);
    }
  });
}
// @__NO_SIDE_EFFECTS__
function number(message$1) {
  return _standardSchema({
    kind: "schema",
    type: "number",
    reference: number,
    expects: "number",
    async: !1,
    message: message$1,
    "~run"(dataset, config$1) {
      return typeof dataset.value == "number" && !isNaN(dataset.value) ? dataset.typed = !0 : _addIssue(this, "type", dataset, config$1), dataset;
    }
  });
}
// @__NO_SIDE_EFFECTS__
function object(entries$1, message$1) {
  return _standardSchema({
    kind: "schema",
    type: "object",
    reference: object,
    expects: "Object",
    async: !1,
    entries: entries$1,
    message: message$1,
    "~run"(dataset, config$1) {
      let input2 = dataset.value;
      if (input2 && typeof input2 == "object") {
        dataset.typed = !0, dataset.value = {};
        for (let key in this.entries) {
          let valueSchema = this.entries[key];
          if (key in input2 || (valueSchema.type === "exact_optional" || valueSchema.type === "optional" || valueSchema.type === "nullish") && valueSchema.default !== void 0) {
            let value$1 = key in input2 ? input2[key] : /* @__PURE__ */ getDefault(valueSchema), valueDataset = valueSchema["~run"]({ value: value$1 }, config$1);
            if (valueDataset.issues) {
              let pathItem = {
                type: "object",
                origin: "value",
                input: input2,
                key,
                value: value$1
              };
              for (let issue of valueDataset.issues)
                issue.path ? issue.path.unshift(pathItem) : issue.path = [pathItem], dataset.issues?.push(issue);
              if (dataset.issues || (dataset.issues = valueDataset.issues), config$1.abortEarly) {
                dataset.typed = !1;
                break;
              }
            }
            valueDataset.typed || (dataset.typed = !1), dataset.value[key] = valueDataset.value;
          } else if (valueSchema.fallback !== void 0) dataset.value[key] = /* @__PURE__ */ getFallback(valueSchema);
          else if (valueSchema.type !== "exact_optional" && valueSchema.type !== "optional" && valueSchema.type !== "nullish" && (_addIssue(this, "key", dataset, config$1, {
            input: void 0,
            expected: `"${key}"`,
            path: [{
              type: "object",
              origin: "key",
              input: input2,
              key,
              value: input2[key]
            }]
          }), config$1.abortEarly))
            break;
        }
      } else _addIssue(this, "type", dataset, config$1);
      return dataset;
    }
  });
}
// @__NO_SIDE_EFFECTS__
function optional(wrapped, default_) {
  return _standardSchema({
    kind: "schema",
    type: "optional",
    reference: optional,
    expects: `(${wrapped.expects} | undefined)`,
    async: !1,
    wrapped,
    default: default_,
    "~run"(dataset, config$1) {
      return dataset.value === void 0 && (this.default !== void 0 && (dataset.value = /* @__PURE__ */ getDefault(this, dataset, config$1)), dataset.value === void 0) ? (dataset.typed = !0, dataset) : this.wrapped["~run"](dataset, config$1);
    }
  });
}
// @__NO_SIDE_EFFECTS__
function record(key, value$1, message$1) {
  return _standardSchema({
    kind: "schema",
    type: "record",
    reference: record,
    expects: "Object",
    async: !1,
    key,
    value: value$1,
    message: message$1,
    "~run"(dataset, config$1) {
      let input2 = dataset.value;
      if (input2 && typeof input2 == "object") {
        dataset.typed = !0, dataset.value = {};
        for (let entryKey in input2) if (/* @__PURE__ */ _isValidObjectKey(input2, entryKey)) {
          let entryValue = input2[entryKey], keyDataset = this.key["~run"]({ value: entryKey }, config$1);
          if (keyDataset.issues) {
            let pathItem = {
              type: "object",
              origin: "key",
              input: input2,
              key: entryKey,
              value: entryValue
            };
            for (let issue of keyDataset.issues)
              issue.path = [pathItem], dataset.issues?.push(issue);
            if (dataset.issues || (dataset.issues = keyDataset.issues), config$1.abortEarly) {
              dataset.typed = !1;
              break;
            }
          }
          let valueDataset = this.value["~run"]({ value: entryValue }, config$1);
          if (valueDataset.issues) {
            let pathItem = {
              type: "object",
              origin: "value",
              input: input2,
              key: entryKey,
              value: entryValue
            };
            for (let issue of valueDataset.issues)
              issue.path ? issue.path.unshift(pathItem) : issue.path = [pathItem], dataset.issues?.push(issue);
            if (dataset.issues || (dataset.issues = valueDataset.issues), config$1.abortEarly) {
              dataset.typed = !1;
              break;
            }
          }
          (!keyDataset.typed || !valueDataset.typed) && (dataset.typed = !1), keyDataset.typed && (dataset.value[keyDataset.value] = valueDataset.value);
        }
      } else _addIssue(this, "type", dataset, config$1);
      return dataset;
    }
  });
}
// @__NO_SIDE_EFFECTS__
function string(message$1) {
  return _standardSchema({
    kind: "schema",
    type: "string",
    reference: string,
    expects: "string",
    async: !1,
    message: message$1,
    "~run"(dataset, config$1) {
      return typeof dataset.value == "string" ? dataset.typed = !0 : _addIssue(this, "type", dataset, config$1), dataset;
    }
  });
}
// @__NO_SIDE_EFFECTS__
function unknown() {
  return _standardSchema({
    kind: "schema",
    type: "unknown",
    reference: unknown,
    expects: "unknown",
    async: !1,
    "~run"(dataset) {
      return dataset.typed = !0, dataset;
    }
  });
}
// @__NO_SIDE_EFFECTS__
function variant(key, options, message$1) {
  return _standardSchema({
    kind: "schema",
    type: "variant",
    reference: variant,
    expects: "Object",
    async: !1,
    key,
    options,
    message: message$1,
    "~run"(dataset, config$1) {
      let input2 = dataset.value;
      if (input2 && typeof input2 == "object") {
        let outputDataset, maxDiscriminatorPriority = 0, invalidDiscriminatorKey = this.key, expectedDiscriminators = [], parseOptions = (variant$1, allKeys) => {
          for (let schema of variant$1.options) {
            if (schema.type === "variant") parseOptions(schema, new Set(allKeys).add(schema.key));
            else {
              let keysAreValid = !0, currentPriority = 0;
              for (let currentKey of allKeys) {
                let discriminatorSchema = schema.entries[currentKey];
                if (currentKey in input2 ? discriminatorSchema["~run"]({
                  typed: !1,
                  value: input2[currentKey]
                }, ABORT_EARLY_CONFIG).issues : discriminatorSchema.type !== "exact_optional" && discriminatorSchema.type !== "optional" && discriminatorSchema.type !== "nullish") {
                  keysAreValid = !1, invalidDiscriminatorKey !== currentKey && (maxDiscriminatorPriority < currentPriority || maxDiscriminatorPriority === currentPriority && currentKey in input2 && !(invalidDiscriminatorKey in input2)) && (maxDiscriminatorPriority = currentPriority, invalidDiscriminatorKey = currentKey, expectedDiscriminators = []), invalidDiscriminatorKey === currentKey && expectedDiscriminators.push(schema.entries[currentKey].expects);
                  break;
                }
                currentPriority++;
              }
              if (keysAreValid) {
                let optionDataset = schema["~run"]({ value: input2 }, config$1);
                (!outputDataset || !outputDataset.typed && optionDataset.typed) && (outputDataset = optionDataset);
              }
            }
            if (outputDataset && !outputDataset.issues) break;
          }
        };
        if (parseOptions(this, /* @__PURE__ */ new Set([this.key])), outputDataset) return outputDataset;
        _addIssue(this, "type", dataset, config$1, {
          input: input2[invalidDiscriminatorKey],
          expected: /* @__PURE__ */ _joinExpects(expectedDiscriminators, "|"),
          path: [{
            type: "object",
            origin: "value",
            input: input2,
            key: invalidDiscriminatorKey,
            value: input2[invalidDiscriminatorKey]
          }]
        });
      } else _addIssue(this, "type", dataset, config$1);
      return dataset;
    }
  });
}
function parse(schema, input2, config$1) {
  let dataset = schema["~run"]({ value: input2 }, /* @__PURE__ */ getGlobalConfig(config$1));
  if (dataset.issues) throw new ValiError(dataset.issues);
  return dataset.value;
}
// @__NO_SIDE_EFFECTS__
function pipe(...pipe$1) {
  return _standardSchema({
    ...pipe$1[0],
    pipe: pipe$1,
    "~run"(dataset, config$1) {
      for (let item of pipe$1) if (item.kind !== "metadata") {
        if (dataset.issues && (item.kind === "schema" || item.kind === "transformation")) {
          dataset.typed = !1;
          break;
        }
        (!dataset.issues || !config$1.abortEarly && !config$1.abortPipeEarly) && (dataset = item["~run"](dataset, config$1));
      }
      return dataset;
    }
  });
}
// @__NO_SIDE_EFFECTS__
function safeParse(schema, input2, config$1) {
  let dataset = schema["~run"]({ value: input2 }, /* @__PURE__ */ getGlobalConfig(config$1));
  return {
    typed: dataset.typed,
    success: !dataset.issues,
    output: dataset.value,
    issues: dataset.issues
  };
}

// cli/src/oidc-token.ts
var TokenBody = object({ value: string() }), hasGithubToken = (env) => !!(env.ACTIONS_ID_TOKEN_REQUEST_URL && env.ACTIONS_ID_TOKEN_REQUEST_TOKEN);
async function requestGithubToken(env, audience) {
  let url = new URL(env.ACTIONS_ID_TOKEN_REQUEST_URL ?? "");
  url.searchParams.set("audience", audience);
  let headers = { authorization: `Bearer ${env.ACTIONS_ID_TOKEN_REQUEST_TOKEN}`, accept: "application/json" }, response = await fetch(url, { headers, redirect: "error", signal: AbortSignal.timeout(3e4) }), parsed = safeParse(TokenBody, await response.json().catch(() => {
  }));
  if (response.ok && parsed.success) return parsed.output.value;
  throw new Problem(`GitHub gave no OIDC token: status ${response.status}.`);
}
var defaultAudience = (baseURL) => new URL(baseURL).origin;
function exchangeOidcToken(client, token, identityUid) {
  return client.token.create({ token, ...identityUid === void 0 ? {} : { identity_uid: identityUid } });
}

// cli/src/run-config.ts
import { readFile } from "node:fs/promises";
async function buildConfig(client, input2) {
  let { env, repo, skill, model, worker, config, outputSchema } = input2, options = defined({
    environment_id: env === void 0 ? void 0 : await environmentUid(client, env),
    repositories: repo?.map(parseRepository),
    skill_spec: skill,
    model_id: model,
    worker_host: worker,
    fallback_model_ids: input2.fallbackModel,
    reasoning_level: input2.reasoning,
    budget_usd: input2.budget,
    timeout_minutes: input2.timeout,
    max_steps: input2.maxSteps,
    max_total_tokens: input2.maxTokens,
    output_schema: outputSchema === void 0 ? void 0 : await readObject(outputSchema, "--output-schema")
  }), whole = config === void 0 ? options : { ...await readObject(config, "--config"), ...options };
  return Object.keys(whole).length === 0 ? void 0 : whole;
}
function parseRepository(text) {
  let at = text.indexOf("#");
  return at === -1 ? { url: text } : { url: text.slice(0, at), ref: text.slice(at + 1) };
}
async function readObject(file, option) {
  let text = await readFile(file, "utf8").catch((error) => {
    throw usage(`${option} ${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  });
  if (!safeParse(pipe(string(), parseJson2(), record(string(), unknown())), text).success) throw usage(`${option} ${file} is not a JSON object.`);
  return JSON.parse(text);
}

// cli/src/usage.ts
function usageText(usage2) {
  if (usage2 === void 0) return;
  let { total_tokens, inference_cost, compute_cost, platform_cost } = usage2, costs = [inference_cost, compute_cost, platform_cost].filter((cost) => cost !== void 0), parts = [
    ...total_tokens === void 0 ? [] : [`${total_tokens.toLocaleString("en-US")} tokens`],
    ...costs.length === 0 ? [] : [dollars(costs.reduce((sum, cost) => sum + cost, 0))]
  ];
  return parts.length === 0 ? void 0 : parts.join(" · ");
}
var dollars = (amount) => `$${amount.toFixed(amount > 0 && amount < 1 ? 4 : 2)}`;

// action/client.ts
function createClient(options) {
  let transport = new Transport(options);
  return {
    runs: new Runs2(transport),
    artifacts: new Artifacts2(transport),
    environments: new Environments(transport),
    identities: new Identities(transport),
    token: new Token(transport)
  };
}

// action/comment.ts
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

// cli/src/changes/changes.ts
function listChanges({ artifacts = [] }) {
  let latest = /* @__PURE__ */ new Map();
  for (let { artifact_type, data } of artifacts)
    artifact_type !== "FILE" || data.git === void 0 || latest.set(data.git.path, { artifactUid: data.artifact_uid, filename: data.filename, git: data.git });
  return [...latest.values()];
}
var MAX_BYTES = 16 * 1024 * 1024;
async function downloadPatch(client, { artifactUid }) {
  let { body } = await client.artifacts.download(artifactUid), chunks = [], bytes = 0;
  for await (let chunk of body ?? []) {
    if (bytes += chunk.length, bytes > MAX_BYTES) throw new Problem("The patch is larger than 16 MiB.");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
function describeChanges({
  files_changed,
  insertions,
  deletions,
  commits,
  branch,
  ...rest
}) {
  let count = (number2, one) => `${number2} ${one}${number2 === 1 ? "" : "s"}`;
  return [
    `${count(files_changed, "file")} changed, +${insertions} −${deletions}`,
    commits === 0 ? "no commits" : count(commits, "commit"),
    ...branch === void 0 ? [] : [`branch ${branch}`],
    ...rest.files_omitted === void 0 ? [] : [`${count(rest.files_omitted, "file")} left out because of the size`],
    ...rest.redacted === !0 ? ["secrets are redacted"] : []
  ].join(", ");
}

// cli/src/changes/pull-request-text.ts
var MAX_TEXT = 3e4;
var HIDDEN = new RegExp("\\p{Cf}", "gu");
var formatRunLink = ({ run_id, session_link }) => session_link === void 0 ? `\`${run_id}\`` : `[${run_id}](${session_link})`;
function quoteText(text) {
  let quote = printable(text.trim().slice(0, MAX_TEXT).toWellFormed()).replace(HIDDEN, ""), fence = "`".repeat(Math.max(2, longestTicks(quote)) + 1);
  return quote === "" ? "" : `${fence}text
${quote}
${fence}`;
}
var longestTicks = (text) => [...text.matchAll(/`+/g)].reduce((longest, [ticks]) => Math.max(longest, ticks.length), 0);

// cli/src/github-api.ts
async function requestGithub(request) {
  let { method = "GET", url, token, body, timeoutMs = 3e4, remedy } = request, response = await fetch(url, {
    method,
    headers: {
      ...token === void 0 ? {} : { authorization: `Bearer ${token}` },
      accept: "application/vnd.github+json",
      "x-github-api-version": "2022-11-28",
      "user-agent": "runyard",
      ...body === void 0 ? {} : { "content-type": "application/json" }
    },
    body: body === void 0 ? null : JSON.stringify(body),
    redirect: "error",
    signal: AbortSignal.timeout(timeoutMs)
  }).catch((error) => {
    let reason = error instanceof Error ? error.message : error;
    throw new Problem(`GitHub's API at ${new URL(url).origin} could not be reached: ${reason}`);
  }), text = await response.text();
  if (response.ok) return parse2(text);
  throw new Problem(`GitHub refused (${response.status}): ${describe(text)}`, {
    ...[401, 403, 404].includes(response.status) ? { remedy } : {}
  });
}
var Refusal = object({
  message: string(),
  errors: optional(array(object({ message: optional(string(), "") })), [])
});
function describe(text) {
  let refusal = safeParse(Refusal, parse2(text));
  if (!refusal.success) return text.slice(0, 300);
  let { message, errors } = refusal.output;
  return [message, ...errors.map((error) => error.message)].filter((part) => part !== "").join("; ");
}
function parse2(text) {
  try {
    return JSON.parse(text);
  } catch {
    return;
  }
}

// action/summary.ts
var LONGEST = 6e4;
function formatSummary(run, response) {
  let files = (run.artifacts ?? []).flatMap(({ data }) => "filename" in data ? [data.filename] : []), rows = [
    ["Run", formatRunLink(run)],
    ["Message", run.status_message && plain(run.status_message.message)],
    ["Run time", run.run_time],
    ["Model", run.agent_config?.model_id && plain(run.agent_config.model_id)],
    ["Usage", usageText(run.request_usage)],
    ...listChanges(run).map(({ git }) => ["Changes", plain(`${git.path}: ${describeChanges(git)}`)]),
    ["Files", files.length === 0 ? void 0 : files.map(plain).join(", ")]
  ].filter(([, value]) => value !== void 0), text = response.length > LONGEST ? `${response.slice(0, LONGEST)}

(cut)` : response;
  return [
    `### ${markOf(run)} ${plain(run.title)}: ${run.state}`,
    "",
    "| | |",
    "|---|---|",
    ...rows.map(([name, value]) => `| ${name} | ${value} |`),
    "",
    text,
    ""
  ].join(`
`);
}
var MARKS = { SUCCEEDED: "✅", BLOCKED: "✋", CANCELLED: "⏹️" }, markOf = ({ state }) => MARKS[state] ?? "❌", plain = (text) => text.replace(/\s+/g, " ").replace(/[\\`*_{}[\]<>()#|!~@]/g, (character) => `&#${character.charCodeAt(0)};`);

// action/comment.ts
var PAGE_SIZE = 100, MAX_PAGES = 30, TIMEOUT_MS = 1e4, WebhookEvent = object({
  pull_request: optional(object({ number: number() })),
  issue: optional(object({ number: number(), pull_request: optional(unknown()) }))
}), Comment = object({
  id: number(),
  body: nullish(string(), ""),
  user: nullish(object({ type: optional(string()) }))
});
function findPullRequest({ env }) {
  let file = env.GITHUB_EVENT_PATH;
  if (file === void 0 || file === "") return;
  let { pull_request, issue } = parse(WebhookEvent, JSON.parse(readFileSync(file, "utf8")));
  return pull_request?.number ?? (issue?.pull_request == null ? void 0 : issue.number);
}
async function writeComment(job, { token, key, number: number2 }, text) {
  let marker = `<!-- runyard ${createHash("sha256").update(`${key}
${job.env.GITHUB_ACTION}`).digest("hex").slice(0, 20)} -->`, repository = `${job.env.GITHUB_API_URL}/repos/${job.env.GITHUB_REPOSITORY}`, list = `${repository}/issues/${number2}/comments`, earlier2 = await findComment(list, token, marker), body = { body: `${marker}
${text}` };
  earlier2 === void 0 ? await send({ method: "POST", url: list, token, body }) : await send({ method: "PATCH", url: `${repository}/issues/comments/${earlier2}`, token, body });
}
var send = (request) => requestGithub({
  ...request,
  timeoutMs: TIMEOUT_MS,
  remedy: "Does the job have the permission pull-requests: write? A pull request from a fork does not get it."
});
async function findComment(list, token, marker) {
  for (let page = 1; page <= MAX_PAGES; page++) {
    let response = await send({ url: `${list}?per_page=${PAGE_SIZE}&page=${page}`, token }), comments = parse(array(Comment), response), found = comments.find(({ body, user }) => body?.startsWith(marker) && user?.type === "Bot");
    if (found !== void 0) return found.id;
    if (comments.length < PAGE_SIZE) return;
  }
}
function formatComment(run, response) {
  let usage2 = usageText(run.request_usage), facts = [`Run ${formatRunLink(run)}`, ...usage2 === void 0 ? [] : [usage2]], changes = listChanges(run).map(({ git }) => `${git.path}: ${describeChanges(git)}`), about = [run.title, run.status_message?.message, ...changes].filter((line) => line !== void 0), quote = quoteText(response);
  return [
    `### ${markOf(run)} Runyard: ${run.state}`,
    facts.join(" · "),
    quoteText(about.join(`
`)),
    ...quote === "" ? [] : [`<details><summary>Answer</summary>

${quote}

</details>`]
  ].join(`

`);
}

// action/job.ts
import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
function input({ env }, name) {
  let value = env[`INPUT_${name.toUpperCase()}`]?.trim() ?? "";
  return value === "" ? void 0 : value;
}
var inputLines = (job, name) => (input(job, name) ?? "").split(`
`).map((line) => line.trim()).filter((line) => line !== "");
function command(job, name, text, properties = {}) {
  let escaped = Object.entries(properties).map(
    ([key, value]) => `${key}=${escapeData(value).replaceAll(":", "%3A").replaceAll(",", "%2C")}`
  );
  job.print(`::${name}${escaped.length === 0 ? "" : ` ${escaped.join(",")}`}::${escapeData(printable(text))}`);
}
var escapeData = (text) => text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll(`
`, "%0A");
function printText(job, text, before) {
  for (let line of printable(text).split(`
`)) {
    let escaped = `${before}${line.replaceAll("##[", "##​[")}`;
    job.print(escaped.trimStart().startsWith("::") ? `​${escaped.trimStart()}` : escaped);
  }
}
function setOutput({ env }, name, value) {
  let file = env.GITHUB_OUTPUT;
  if (file === void 0 || file === "") return;
  let delimiter = `end-${randomUUID()}`;
  appendFileSync(file, `${name}<<${delimiter}
${value}
${delimiter}
`);
}
function addSummary({ env }, markdown) {
  let file = env.GITHUB_STEP_SUMMARY;
  file !== void 0 && file !== "" && appendFileSync(file, `${markdown}
`);
}

// cli/src/first-text.ts
var firstText = (texts) => texts.find((text) => typeof text == "string" && text.trim() !== "");

// cli/src/follow/display-events.ts
function toDisplayEvents({ type, occurred_at, data }) {
  if (type === "model_called") return [];
  if (type !== "messages") return [step(type, occurred_at, data)];
  let parsed = safeParse(Messages, data);
  if (!parsed.success) return [];
  let all = parsed.output.messages.flatMap(
    ({ role, content, timestamp }) => content.flatMap((block) => ofBlock(block, role, earlier(timestamp, occurred_at)))
  );
  return joinResults(all);
}
function earlier(timestamp, occurredAt) {
  return timestamp !== void 0 && Date.parse(timestamp) <= Date.parse(occurredAt) ? timestamp : occurredAt;
}
function joinResults(events) {
  let joined = [];
  for (let event of events) {
    let last = joined.at(-1);
    event.kind === "result" && last?.kind === "action" && last.id === event.id ? joined.splice(-1, 1, { ...event, at: last.at, action: last }) : joined.push(event);
  }
  return joined;
}
var Text = optional(string()), StepData = object({
  state: Text,
  duration_ms: optional(number()),
  is_error: optional(boolean()),
  detail: Text,
  message: Text,
  filepath: Text,
  title: Text,
  url: Text,
  step: Text,
  attempt: optional(number()),
  of: optional(number()),
  reason: Text,
  next_in_ms: optional(number()),
  action_id: Text,
  output: Text
}), NAMES = {
  worker_container_ready: "sandbox ready",
  setup_environment_resolution: "prepared",
  setup_repo_clone: "cloned",
  setup_commands: "setup",
  setup_mcp_servers: "MCP server",
  setup_skill_loading: "loaded skill",
  checkpoint_saved: "checkpoint",
  artifact_created: "artifact",
  branch_pushed: "push",
  user_notified: "notification",
  run_waiting: "",
  model_retry: "model failed"
}, STARTED = {
  setup_environment_resolution: "preparing …",
  setup_repo_clone: "cloning …",
  setup_mcp_servers: "connecting to MCP server …",
  setup_skill_loading: "loading skill …"
};
function retryText({ attempt, of, reason, next_in_ms }) {
  if (attempt === void 0) return;
  let most = of === void 0 ? "" : ` of ${of}`, next = next_in_ms === void 0 ? "" : `, next in ${(next_in_ms / 1e3).toFixed(1)} s`;
  return `attempt ${attempt}${most}${next}: ${reason ?? "no reason was given"}`;
}
function step(type, at, data) {
  let parsed = safeParse(StepData, data), { state, duration_ms, is_error = !1, ...details } = parsed.success ? parsed.output : {}, name = state !== void 0 && type.startsWith("run_") ? void 0 : NAMES[type] ?? type.replaceAll("_", " "), detail = retryText(details) ?? firstText([details.detail, details.message, details.filepath, details.title, details.url]), common = { kind: "step", type, at, detail, actionId: details.action_id };
  return type === "setup_started" ? { ...common, name: STARTED[details.step ?? ""] ?? "setup …", failed: !1 } : { ...common, state, name, durationMs: duration_ms, failed: is_error, output: details.output };
}
var COMPACTED = "conversation_compacted", Summary = object({ summary: string() }), Block = variant("type", [
  object({ type: literal("text"), text: string(), message_id: Text }),
  object({ type: literal("action"), id: string(), name: string(), title: Text, input: unknown() }),
  object({
    type: literal("action_result"),
    action_id: string(),
    state: string(),
    title: Text,
    summary: Text,
    diff: Text,
    output: unknown()
  }),
  object({ type: literal("event"), name: literal(COMPACTED), data: Summary })
]), Messages = object({
  messages: array(object({ role: string(), content: array(unknown()), timestamp: optional(string()) }))
}), Command = object({ command: string() });
function ofBlock(given, role, at) {
  let parsed = safeParse(Block, given);
  if (!parsed.success) return [];
  let block = parsed.output;
  switch (block.type) {
    case "text":
      return role === "assistant" ? [{ kind: "text", at, text: block.text, id: block.message_id }] : [];
    case "action": {
      let { id, name, input: input2 } = block, command2 = safeParse(Command, input2), inputText = command2.success ? command2.output.command : asText(input2), title = block.title ?? (command2.success ? "" : name);
      return [{ kind: "action", at, id, title, input: inputText, isCommand: command2.success }];
    }
    case "action_result":
      return [{ kind: "result", at, ...ofResult(block) }];
    case "event": {
      let { summary } = block.data;
      return [{ kind: "step", type: block.name, at, name: "summarized", detail: summary, failed: !1 }];
    }
  }
}
var Output = object({
  exit_code: optional(nullable(number())),
  output: Text,
  stdout: Text,
  stderr: Text
});
function ofResult({ action_id: id, state, title, summary, diff, output }) {
  let known = { id, title, failed: state !== "completed", diff }, parsed = safeParse(Output, output), { exit_code, ...texts } = parsed.success ? parsed.output : {}, isShell = exit_code !== void 0, status = typeof exit_code == "number" ? `exit ${exit_code}` : state === "completed" && title !== void 0 ? "done" : state, text = [texts.output, texts.stdout, texts.stderr].filter(Boolean).join(`
`), showsOutput = isShell || summary === void 0 && title === void 0;
  return { ...known, summary: summary ?? status, output: text || (isShell ? "" : asText(output)), showsOutput };
}
function asText(value) {
  return typeof value == "string" ? value : value == null || JSON.stringify(value) === "{}" ? "" : JSON.stringify(value, null, 2) ?? "";
}

// cli/src/follow/run-clock.ts
var RunClock = class {
  #since;
  #passed = 0;
  /** @param since when time began, in milliseconds since the epoch. @default the time of the first event */
  constructor(since) {
    this.#since = since;
  }
  /** Milliseconds that had passed at a time, an RFC 3339 timestamp; at least as many as at the last call. */
  passedAt(timestamp) {
    let time = Date.parse(timestamp);
    return Number.isNaN(time) ? this.#passed : (this.#since ??= time, this.#passed = Math.max(this.#passed, time - this.#since), this.#passed);
  }
};

// cli/src/style.ts
var seconds = (milliseconds) => `${(milliseconds / 1e3).toFixed(1)} s`;

// action/job-log.ts
var JobLog = class {
  #job;
  #clock = new RunClock();
  #open = !1;
  constructor(job) {
    this.#job = job;
  }
  show(event) {
    this.#clock.passedAt(event.type === "messages" ? "" : event.occurred_at);
    for (let displayEvent of toDisplayEvents(event)) this.#show(displayEvent);
  }
  /** Ends the group that is open. */
  close() {
    this.#open && command(this.#job, "endgroup", ""), this.#open = !1;
  }
  #show(displayEvent) {
    let at = `${seconds(this.#clock.passedAt(displayEvent.at)).padStart(9)}  `;
    if (displayEvent.kind === "result") {
      this.#result(displayEvent, at);
      return;
    }
    this.close(), displayEvent.kind === "action" && displayEvent.isCommand ? this.#openGroup(displayEvent.input, "$ ") : displayEvent.kind === "action" ? printText(this.#job, oneLine(`• ${displayEvent.title}`), at) : displayEvent.kind === "step" ? printText(this.#job, stepText(displayEvent), at) : printText(this.#job, printable(displayEvent.text.trimEnd()), at);
  }
  #result(result, at) {
    let { action } = result;
    action?.isCommand === !0 && this.#openGroup(action.input, "$ ");
    let output = printable(result.output).trimEnd(), isCommand = this.#open;
    isCommand && output !== "" && printText(this.#job, output, "| "), this.close();
    let line = oneLine([isCommand ? "" : formatTitle(result, action), result.summary].filter(Boolean).join("  "));
    if (printText(this.#job, line, at), isCommand) return;
    let details = printable(result.diff ?? (result.showsOutput ? result.output : "")).trimEnd();
    details !== "" && (this.#openGroup(result.diff === void 0 ? "output" : "diff", ""), printText(this.#job, details, "| "), this.close());
  }
  #openGroup(given, mark) {
    this.close();
    let [first = "", ...rest] = printable(given).trim().split(`
`);
    command(this.#job, "group", `${mark}${first}`), this.#open = !0, rest.length > 0 && printText(this.#job, rest.join(`
`), "$ ");
  }
}, formatTitle = ({ title }, action) => {
  let text = action?.title ?? title;
  return text === void 0 ? "" : `• ${text}`;
};
function stepText({ state, name, durationMs, detail, failed }) {
  let duration = durationMs === void 0 ? void 0 : seconds(durationMs);
  return oneLine([state, name, failed && state === void 0 ? "failed" : void 0, detail, duration].filter((part) => part !== void 0).join("  "));
}

// action/patches.ts
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path2 from "node:path";
async function savePatches(job, client, run) {
  let changes = listChanges(run);
  if (changes.length === 0) return [];
  let folder = mkdtempSync(path2.join(job.env.RUNNER_TEMP || tmpdir(), "runyard-")), files = [];
  for (let [index, change] of changes.entries()) {
    let file = path2.join(folder, `${index + 1}.patch`);
    writeFileSync(file, await downloadPatch(client, change)), files.push(file);
  }
  return files;
}

// action/action.ts
async function runAction(job) {
  let cancelled = new AbortController(), release = job.onCancel(() => cancelled.abort());
  try {
    let { client, minutes } = await readSettings(job), runId = await createRun(job, client), run = await follow(job, client, runId, { cancelled: cancelled.signal, minutes }), response = cancelled.signal.aborted ? "" : (await client.runs.response(runId)).text;
    return report(job, run, response), cancelled.signal.aborted || await shareResults(job, client, run, response), verdict(job, run, cancelled.signal.aborted);
  } catch (error) {
    return command(job, "error", formatError2(error), { title: "Runyard" }), 1;
  } finally {
    release();
  }
}
async function readSettings(job) {
  let baseURL = required2(job, "base-url"), minutes = Number(input(job, "timeout-minutes") ?? DEFAULT_MINUTES);
  if (!(minutes > 0 && minutes <= 35e3)) throw new Error("timeout-minutes is a number above 0, up to 35,000.");
  if (!["true", "false", void 0].includes(input(job, "comment"))) throw new Error("comment is true or false.");
  let headers = { "x-run-source": "GITHUB_ACTION" }, apiKey = input(job, "api-key") ?? await exchangeJobToken(job, baseURL);
  return command(job, "add-mask", apiKey), { client: createClient({ apiKey, baseURL, headers }), minutes };
}
var DEFAULT_MINUTES = 60, MAX_TIME_LIMIT = 10080, toTimeLimit = (minutes) => minutes === void 0 || Number(minutes) > MAX_TIME_LIMIT ? void 0 : Math.ceil(Number(minutes));
function toBudget(value) {
  if (value === void 0) return;
  let usd = Number(value);
  if (!Number.isFinite(usd)) throw new Error(`The input budget is a number, and ${value} is not.`);
  return usd;
}
async function exchangeJobToken(job, baseURL) {
  if (!hasGithubToken(job.env))
    throw new Error(
      "The input api-key is missing, and the job may not request an OIDC token in its place. Is the secret set, or the permission id-token: write?"
    );
  let token = await requestGithubToken(job.env, input(job, "audience") ?? defaultAudience(baseURL));
  command(job, "add-mask", token);
  let { key } = await exchangeOidcToken(createClient({ apiKey: "none", baseURL }), token, input(job, "agent"));
  return key;
}
function required2(job, name) {
  let value = input(job, name);
  if (value === void 0) throw new Error(`The input ${name} is missing. Is the secret or variable behind it set?`);
  return value;
}
async function createRun(job, client) {
  let prompt = input(job, "prompt"), skill = input(job, "skill");
  if (prompt === void 0 && skill === void 0)
    throw new Error("The input prompt is missing, and there is no skill.");
  let repo = inputLines(job, "repo"), agent = input(job, "api-key") === void 0 ? void 0 : input(job, "agent"), config = await buildConfig(client, {
    env: input(job, "environment"),
    repo: repo.length === 0 ? void 0 : repo,
    skill,
    model: input(job, "model"),
    budget: toBudget(input(job, "budget")),
    // The run ends by itself where the job is lost and cannot cancel it.
    timeout: toTimeLimit(input(job, "timeout-minutes"))
  }), body = defined({
    prompt,
    title: input(job, "title"),
    config,
    agent_identity_uid: agent === void 0 ? void 0 : await agentUid(client, agent),
    metadata: buildMetadata(job)
  }), { run_id, at_capacity } = await client.runs.create(body, { idempotencyKey: toIdempotencyKey(job) });
  return setOutput(job, "run-id", run_id), printText(job, oneLine(`Run ${run_id}`), ""), at_capacity === !0 && job.print("The team runs as much as it may at once: this run waits its turn."), run_id;
}
function toIdempotencyKey(job) {
  let key = input(job, "idempotency-key");
  return key === void 0 ? void 0 : `github-${key}-${job.env.GITHUB_ACTION ?? ""}`.slice(0, 255);
}
function buildMetadata(job) {
  let { env } = job, repository = env.GITHUB_REPOSITORY, own = {
    "github.repository": repository,
    "github.sha": env.GITHUB_SHA,
    "github.ref": env.GITHUB_REF,
    "github.run": repository && `${env.GITHUB_SERVER_URL}/${repository}/actions/runs/${env.GITHUB_RUN_ID}`
  }, inputs = inputLines(job, "metadata").map((line) => {
    let at = line.indexOf("=");
    if (at < 1) throw new Error(`metadata is written name=value, one a line, and ${line} is not.`);
    return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  }), known = Object.entries(own).flatMap(
    ([name, value = ""]) => value === "" || Buffer.byteLength(value) > 256 ? [] : [[name, value]]
  );
  return Object.fromEntries([...known, ...inputs]);
}
var CANCELLED_GRACE = 2e3, TIMEOUT_GRACE = 3e4;
async function follow(job, client, runId, { cancelled, minutes }) {
  let log = new JobLog(job), late = AbortSignal.timeout(Math.ceil(minutes * 6e4)), after = 0, toEnd = (signal) => client.runs.followUntilDone(runId, {
    after,
    signal,
    onEvent: (event) => {
      after = event.sequence, log.show(event);
    }
  });
  try {
    return await toEnd(AbortSignal.any([cancelled, late]));
  } catch (error) {
    if (!(error instanceof APIUserAbortError)) throw error;
    log.close();
    let isCancelled = cancelled.aborted, text = isCancelled ? "The job was cancelled." : `The run took longer than ${minutes} minutes.`;
    command(job, isCancelled ? "warning" : "error", `${text} Cancelling the run.`, { title: "Runyard" }), await client.runs.cancel(runId, { force: !0 }, { timeout: 2500, maxRetries: isCancelled ? 1 : 5 }).catch(ended);
    let grace = AbortSignal.timeout(isCancelled ? CANCELLED_GRACE : TIMEOUT_GRACE);
    return await toEnd(grace).catch(() => client.runs.retrieve(runId, { timeout: 2e3, maxRetries: 0 }));
  } finally {
    log.close();
  }
}
function ended(error) {
  if (!(error instanceof APIError) || error.status !== 400) throw error;
}
function report(job, run, response) {
  setOutput(job, "state", run.state), setOutput(job, "session-link", run.session_link ?? ""), setOutput(job, "response", response);
  let summary = formatSummary(run, response);
  setOutput(job, "summary", summary), addSummary(job, summary), printText(job, oneLine(`${run.state} ${run.session_link ?? ""}`).trimEnd(), "");
  let usage2 = usageText(run.request_usage);
  usage2 !== void 0 && printText(job, usage2, "");
}
async function shareResults(job, client, run, response) {
  let warn = (what) => (error) => command(job, "warning", `${what}: ${formatError2(error)}`, { title: "Runyard" });
  await savePatches(job, client, run).then((files) => setOutput(job, "patch", files.join(`
`))).catch(warn("The patch could not be saved")), input(job, "comment") === "true" && await commentOnPullRequest(job, run, response).catch(warn("The pull request has no comment"));
}
async function commentOnPullRequest(job, run, response) {
  let number2 = findPullRequest(job);
  if (number2 === void 0) throw new Error("the job's event is not about one.");
  let token = required2(job, "github-token");
  await writeComment(job, { token, key: input(job, "comment-key") ?? "", number: number2 }, formatComment(run, response));
}
function verdict(job, run, isCancelled) {
  if (run.state === "SUCCEEDED" && !isCancelled) return 0;
  let message = run.status_message?.message ?? `The run ended ${run.state}.`, text = run.state === "BLOCKED" ? `The agent asks: ${message}` : message, fails = isCancelled || input(job, "fail-on-failure") !== "false";
  return command(job, fails ? "error" : "warning", text, { title: `Runyard: ${run.state}` }), fails ? 1 : 0;
}
function formatError2(error) {
  if (!(error instanceof APIError) || error.status === void 0) return explain(error).lines.join(`
`);
  let remedy = error.status === 401 ? ["The key in api-key is not valid (any more)."] : [];
  return [...describeResponse(error), ...remedy].join(`
`);
}

// action/main.ts
var SIGNALS = ["SIGINT", "SIGTERM"];
process.exitCode = await runAction({
  env: process.env,
  print: (line) => {
    process.stdout.write(`${line}
`);
  },
  onCancel: (listener) => {
    for (let signal of SIGNALS) process.on(signal, listener);
    return () => {
      for (let signal of SIGNALS) process.off(signal, listener);
    };
  }
});
/*
valibot

MIT License

Copyright (c) Fabian Hiller

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
*/
