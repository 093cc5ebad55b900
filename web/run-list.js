import { describe, isRefusal } from "./api-client.js";
import { button, el } from "./dom.js";
import { asDate, asDuration, parseDuration } from "./format.js";
import { copyable, stateBadge } from "./parts.js";

/** @import { ListRunsResponse, RunItem } from "../shared/wire/run.ts" */
/** @import { Context } from "./app.js" */

/**
 * The latest runs, twenty at a time.
 *
 * @param {Context} context
 */
export async function showRunList({ main, api, fail, announce }) {
  /** @param {string | undefined} cursor @returns {Promise<ListRunsResponse>} */
  const read = (cursor) => {
    const query = new URLSearchParams({ limit: "20", sort_by: "created_at", ...(cursor && { cursor }) });
    return api.get(`/agent/runs?${query}`);
  };
  const heading = el("h1", { tabindex: "-1" }, "Runs");
  const list = el("ul", { class: "runs" });
  const problem = el("p", { class: "error", role: "alert" });
  /** @type {string | undefined} */
  let cursor;
  const more = button("Show more", async () => {
    problem.textContent = "";
    try {
      const page = await read(cursor);
      add(page);
      announce(`${page.runs.length} more runs`);
    } catch (error) {
      // A key that is no longer accepted ends the visit; the rest may pass.
      if (isRefusal(error)) fail(error);
      else problem.textContent = describe(error);
    }
  });
  /** @param {ListRunsResponse} page */
  const add = ({ runs, page_info }) => {
    const rows = runs.map(rowOf);
    const hadFocus = document.activeElement === more;
    list.append(...rows);
    cursor = page_info.next_cursor;
    more.hidden = !page_info.has_next_page || cursor === undefined;
    if (hadFocus) rows[0]?.querySelector("a")?.focus();
  };
  const first = await read(undefined);
  document.title = "Runs · Runyard";
  if (first.runs.length === 0) main.replaceChildren(heading, emptyState(announce));
  else {
    add(first);
    main.replaceChildren(heading, list, problem, el("p", { class: "actions" }, more));
  }
  heading.focus();
}

/** @param {RunItem} run */
function rowOf(run) {
  const milliseconds = parseDuration(run.run_time);
  return el(
    "li",
    {},
    el("a", { href: `/runs/${encodeURIComponent(run.run_id)}` }, run.title.trim() || "Untitled"),
    stateBadge(run.state),
    el(
      "span",
      { class: "facts" },
      el("time", { datetime: run.created_at }, asDate(run.created_at)),
      ...(milliseconds === undefined ? [] : [` · ${asDuration(milliseconds)}`]),
    ),
  );
}

/** @param {Context["announce"]} announce */
function emptyState(announce) {
  const command = [
    `curl -sS ${location.origin}/api/v1/agent/runs \\`,
    '  -H "Authorization: Bearer $KEY" \\',
    '  -H "Content-Type: application/json" \\',
    `  -d '{"title": "Hello", "prompt": "\`\`\`sh\\necho hello\\n\`\`\`"}'`,
  ].join("\n");
  return el(
    "section",
    { class: "notice" },
    el("p", {}, "There are no runs yet. This starts one, with your key in ", el("code", {}, "$KEY"), ":"),
    copyable(command, announce),
  );
}
