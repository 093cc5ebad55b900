import { el } from "./dom.js";
import { asClock, asDuration, asWords } from "./format.js";
import { textOf } from "./values.js";

/** @import { RunEvent } from "../shared/wire/event.ts" */

/**
 * One line of the timeline: what happened, when, how long it took, and what went wrong.
 *
 * @param {RunEvent} event
 */
export function timelineEntry({ type, occurred_at, data }) {
  const { duration_ms: took, is_error: failed } = data;
  const [detail] = ["detail", "reason", "message", "filename", "filepath", "title", "url"].flatMap(
    (name) => textOf(data, name) ?? [],
  );
  const entry = el(
    "li",
    {},
    el("span", { class: "what" }, asWords(type)),
    el("time", { datetime: occurred_at }, asClock(occurred_at)),
  );
  const facts = [
    ...(failed === true ? [el("strong", {}, "failed")] : []),
    ...(typeof took === "number" ? [asDuration(took)] : []),
    ...(detail === undefined ? [] : [detail]),
  ];
  if (facts.length > 0) {
    entry.append(
      el("span", { class: "facts" }, ...facts.flatMap((fact, index) => (index === 0 ? [fact] : [" · ", fact]))),
    );
  }
  if (failed === true || /^run_(failed|errored)$|^execution_lost$/.test(type)) entry.dataset["outcome"] = "failed";
  return entry;
}
