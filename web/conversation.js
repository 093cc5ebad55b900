import { el } from "./dom.js";
import { asClock, asDuration, asWords } from "./format.js";
import { foldedText } from "./parts.js";
import { plainText } from "./text.js";
import { memberOf, textOf } from "./values.js";

/** @import { Block, Message } from "../shared/wire/conversation.ts" */
/** @import { RunEvent } from "../shared/wire/event.ts" */

/** @typedef {Extract<Block, {type: "action"}>} Action */
/** @typedef {Extract<Block, {type: "action_result"}>} Result */

const SPEAKERS = { user: "User", assistant: "Agent", tool: "Tool", system: "System" };

/** What was said and done, in order. An action stands where it began, and its result joins it there. */
export class Conversation {
  element = el("ol", { class: "conversation" });
  /** @type {Map<string, {outcome: HTMLElement, entry: HTMLElement}>} */
  #running = new Map();

  /**
   * @param {string} prompt
   * @param {string} time
   */
  open(prompt, time) {
    this.#text("user", prompt, time);
  }

  /** @param {RunEvent} event a batch of messages */
  add({ data, occurred_at }) {
    /** @type {Message[]} */
    const messages = Array.isArray(data["messages"]) ? data["messages"] : [];
    for (const { role, content, timestamp } of messages) {
      for (const block of content) this.#block(role, block, timestamp ?? occurred_at);
    }
  }

  /** What still runs will have no result: its execution has ended. */
  settle() {
    for (const { outcome, entry } of this.#running.values()) {
      outcome.textContent = "no result";
      entry.dataset["outcome"] = "failed";
    }
    this.#running.clear();
  }

  /**
   * @param {Message["role"]} role
   * @param {Block} block
   * @param {string} time
   */
  #block(role, block, time) {
    if (block.type === "text") this.#text(role, block.text, time);
    else if (block.type === "action") this.#action(block, time);
    else if (block.type === "action_result") this.#result(block, time);
    else if (block.type === "event") this.#entry(asWords(block.name), time, foldedText(asText(block.data), "data"));
  }

  /**
   * @param {Message["role"]} role
   * @param {string} text
   * @param {string} time
   */
  #text(role, text, time) {
    if (text.trim() === "") return;
    this.#entry(SPEAKERS[role] ?? role, time, foldedText(text, "said")).entry.dataset["role"] = role;
  }

  /** @param {Action} action @param {string} time */
  #action({ id, name, title, input }, time) {
    const command = name === "run_command" ? textOf(input, "command") : undefined;
    const shown = command === undefined ? foldedText(asText(input), "data") : foldedText(command, "command");
    const made = this.#entry(command === undefined ? plainText(title ?? asWords(name)) : "Command", time, shown);
    made.outcome.textContent = "running…";
    made.entry.dataset["outcome"] = "running";
    this.#running.set(id, made);
  }

  /** @param {Result} result @param {string} time */
  #result({ action_id, name, title, summary, diff, state, output }, time) {
    const { entry, outcome } = this.#running.get(action_id) ?? this.#entry(plainText(title ?? asWords(name)), time);
    const code = memberOf(output, "exit_code");
    const took = memberOf(output, "duration_ms");
    const parts = [
      typeof code === "number" ? `exit code ${code}` : state,
      ...(memberOf(output, "timed_out") === true ? ["timed out"] : []),
      ...(typeof took === "number" ? [asDuration(took)] : []),
    ];
    outcome.textContent = summary === undefined ? parts.join(" · ") : plainText(summary);
    entry.dataset["outcome"] = state;
    const said = outputText(output);
    if (diff !== undefined) entry.append(foldedText(diff, "output"));
    else if (said.trim() !== "") entry.append(foldedText(said, "output"));
    if (state !== "running") this.#running.delete(action_id);
  }

  /**
   * @param {string} speaker
   * @param {string} time
   * @param {Node[]} content
   */
  #entry(speaker, time, ...content) {
    const outcome = el("span", { class: "outcome" });
    const head = el(
      "p",
      { class: "entry-head" },
      el("span", { class: "speaker" }, speaker),
      outcome,
      el("time", { datetime: time }, asClock(time)),
    );
    const entry = el("li", {}, head, ...content);
    this.element.append(entry);
    return { entry, outcome };
  }
}

/**
 * The text in a result; what has no text is shown as data.
 *
 * @param {unknown} output
 */
function outputText(output) {
  const texts = ["output", "stdout", "stderr"].map((name) => memberOf(output, name));
  const said = texts.filter((text) => typeof text === "string" && text !== "");
  if (said.length > 0) return said.join("\n");
  return texts.some((text) => text !== undefined) ? "" : asText(output);
}

/** @param {unknown} value */
function asText(value) {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value, undefined, 2);
}
