import { Conversation } from "./conversation.js";
import { el } from "./dom.js";
import { artifactList, transcriptLink } from "./files.js";
import { follow } from "./follow.js";
import { asDate, asDuration, asState, asWords, isTerminal, parseDuration } from "./format.js";
import { stateBadge } from "./parts.js";
import { timelineEntry } from "./timeline.js";

/** @import { RunItem } from "../shared/wire/run.ts" */
/** @import { RunEvent } from "../shared/wire/event.ts" */
/** @import { Context } from "./app.js" */

const CONNECTION = { live: "Live", ended: "Ended", reconnecting: "Reconnecting…" };

/**
 * One run, live until it ends.
 *
 * @param {string} runId
 * @param {Context} context
 */
export async function showRun(runId, context) {
  const { main, api, signal } = context;
  const path = `/agent/runs/${runId}`;
  /** @type {RunItem} */
  const first = await api.get(path);
  const page = new RunPage(first, path, context);
  main.replaceChildren(page.element);
  page.heading.focus();
  let stale = false;
  await follow(path, {
    api,
    signal,
    onState: (state) => page.connection(state),
    onEvents: async (events) => {
      page.add(events);
      stale ||= events.some(changesRun);
      if (!stale) return;
      page.update(await api.get(path));
      stale = false;
    },
  });
}

/** @param {RunEvent} event */
const changesRun = ({ type, data }) => "state" in data || type === "artifact_created" || type === "run_stopped";

class RunPage {
  heading = el("h1", { tabindex: "-1" });
  #status = el("p", { class: "status", role: "status" });
  #message = el("div");
  #facts = el("dl", { class: "run-facts" });
  #conversation = new Conversation();
  #timeline = el("ol", { class: "timeline" });
  #files = el("div");
  /** @type {keyof typeof CONNECTION | undefined} */
  #connection;
  #run;
  #readAt = Date.now();
  #path;
  #context;

  /**
   * @param {RunItem} run
   * @param {string} path
   * @param {Context} context
   */
  constructor(run, path, context) {
    this.#run = run;
    this.#path = path;
    this.#context = context;
    this.element = el(
      "article",
      { class: "run" },
      el(
        "header",
        {},
        el("a", { href: "/", class: "back" }, "All runs"),
        this.heading,
        this.#status,
        this.#message,
        this.#facts,
      ),
      section("Conversation", "conversation", this.#conversation.element),
      el(
        "aside",
        { "aria-label": "Files and timeline" },
        section("Files", "files", this.#files),
        section("Timeline", "timeline", this.#timeline),
      ),
    );
    this.#conversation.open(run.prompt || run.agent_config?.skill_spec || "", run.created_at);
    this.update(run);
    const clock = setInterval(() => this.#showRunTime(), 1000);
    context.signal.addEventListener("abort", () => clearInterval(clock));
  }

  /** @param {RunItem} run as it is now */
  update(run) {
    this.#run = run;
    this.#readAt = Date.now();
    const title = run.title.trim() || "Untitled";
    document.title = `${title} · Runyard`;
    this.heading.textContent = title;
    this.#showStatus();
    this.#showMessage();
    this.#facts.replaceChildren(...factsOf(run));
    this.#showRunTime();
    this.#showFiles();
    if (isTerminal(run.state)) this.#conversation.settle();
  }

  /** @param {RunEvent[]} events */
  add(events) {
    const { scrollingElement: page } = document;
    const atEnd = page !== null && page.scrollTop > 0 && page.scrollHeight - page.scrollTop - page.clientHeight < 40;
    for (const event of events) {
      if (event.type === "messages") this.#conversation.add(event);
      else this.#timeline.append(timelineEntry(event));
      if (event.type === "execution_lost") this.#conversation.settle();
    }
    // Who reads at the end goes on reading at the end; nobody else is moved.
    if (atEnd && this.#connection === "live") page.scrollTop = page.scrollHeight;
  }

  /** @param {keyof typeof CONNECTION} state */
  connection(state) {
    if (state === this.#connection) return;
    this.#connection = state;
    this.#showStatus();
  }

  /** Said aloud by screen readers, so it is touched only when it says something else. */
  #showStatus() {
    const { state } = this.#run;
    const link = this.#connection;
    const said = `${asState(state)} ${link}`;
    if (this.#status.dataset["said"] === said) return;
    this.#status.dataset["said"] = said;
    this.#status.replaceChildren(
      stateBadge(state),
      ...(link === undefined ? [] : [el("span", { class: "connection", "data-connection": link }, CONNECTION[link])]),
    );
  }

  #showMessage() {
    const { status_message: status, state } = this.#run;
    if (status === undefined) {
      this.#message.replaceChildren();
      return;
    }
    const code = status.error_code === undefined ? [] : [el("p", { class: "facts" }, asWords(status.error_code))];
    this.#message.replaceChildren(
      el("div", { class: "status-message", "data-state": state }, el("p", {}, status.message), ...code),
    );
  }

  #showRunTime() {
    const measured = parseDuration(this.#run.run_time);
    const place = this.#facts.querySelector("[data-run-time]");
    if (measured === undefined || place === null) return;
    const since = this.#run.state === "INPROGRESS" ? Date.now() - this.#readAt : 0;
    place.textContent = asDuration(measured + since);
  }

  #showFiles() {
    const { artifacts = [], state } = this.#run;
    const key = `${artifacts.length} ${isTerminal(state)}`;
    if (this.#files.dataset["shown"] === key) return;
    this.#files.dataset["shown"] = key;
    const none = el("p", { class: "facts" }, isTerminal(state) ? "The run left no files." : "None yet.");
    this.#files.replaceChildren(
      artifacts.length === 0 ? none : artifactList(artifacts, this.#context),
      ...(isTerminal(state) ? [transcriptLink(this.#path, this.#context)] : []),
    );
  }
}

/**
 * @param {string} title
 * @param {string} id
 * @param {Node} content
 */
function section(title, id, content) {
  return el("section", { "aria-labelledby": id }, el("h2", { id }, title), content);
}

/** @param {RunItem} run */
function factsOf(run) {
  const { creator, agent_config: config, parent_run_id: parent } = run;
  /** @type {[string, Node | string | undefined][]} */
  const facts = [
    ["Created", time(run.created_at)],
    ["Started", run.started_at ? time(run.started_at) : undefined],
    ["Run time", run.run_time === undefined ? undefined : el("span", { "data-run-time": "" })],
    ["Model", config?.model_id],
    ["Skill", config?.skill_spec],
    ["Created by", creator?.display_name ?? creator?.email ?? creator?.uid],
    ["Parent", parent === undefined ? undefined : el("a", { href: `/runs/${encodeURIComponent(parent)}` }, parent)],
    ["Run id", el("code", {}, run.run_id)],
  ];
  return facts.flatMap(([name, value]) => (value ? [el("div", {}, el("dt", {}, name), el("dd", {}, value))] : []));
}

/** @param {string} at */
const time = (at) => el("time", { datetime: at }, asDate(at));
