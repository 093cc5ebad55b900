import { ApiProblem, apiClient, describe } from "./api-client.js";
import { button, el } from "./dom.js";
import { askForKey, forgetKey, savedKey } from "./key.js";
import { showRunList } from "./run-list.js";
import { showRun } from "./run-page.js";

/**
 * What a page gets to work with.
 * @typedef {object} Context
 * @property {HTMLElement} main where it shows itself
 * @property {import("./api-client.js").Api} api
 * @property {AbortSignal} signal says when the reader has gone
 * @property {(error: unknown) => void} fail gives up the page for an error
 * @property {(text: string) => void} announce tells those who listen what others see
 */

const NOT_FOUND = {
  run: "There is no such run, or it is not for the holder of this key to see.",
  page: "There is no such page.",
};

const main = byId("main");
const announcer = byId("announcer");
const forget = byId("forget");
let visit = new AbortController();

forget.addEventListener("click", () => {
  forgetKey();
  open();
});
addEventListener("pagehide", () => visit.abort());
// Back from the browser's memory, with everything stopped: begin anew.
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) open();
});
open();

/** Opens the page of this address. @param {string} [complaint] what was wrong with the last key */
function open(complaint) {
  visit.abort();
  visit = new AbortController();
  const { signal } = visit;
  const key = savedKey();
  forget.hidden = key === undefined;
  announcer.textContent = "";
  if (key === undefined) {
    askForKey(main, complaint, open);
    return;
  }
  /** @param {unknown} error */
  const fail = (error) => {
    if (!signal.aborted) showError(error);
  };
  /** @param {string} text */
  const announce = (text) => {
    announcer.textContent = text;
  };
  main.replaceChildren(el("p", { class: "loading" }, "Loading…"));
  pageOf(location.pathname, { main, api: apiClient(key, signal), signal, fail, announce }).catch(fail);
}

/**
 * @param {string} path
 * @param {Context} context
 */
async function pageOf(path, context) {
  const runId = /^\/runs\/([\w-]+)\/?$/.exec(path)?.[1];
  if (runId !== undefined) return showRun(runId, context);
  if (path === "/" || path === "/runs" || path === "/index.html") return showRunList(context);
  throw new ApiProblem(404, NOT_FOUND.page);
}

/** @param {unknown} error */
function showError(error) {
  visit.abort();
  const status = error instanceof ApiProblem ? error.status : 0;
  if (status === 401) {
    forgetKey();
    open("This key is not accepted. It may be mistyped, expired or revoked.");
    return;
  }
  const [title, text] =
    status === 404
      ? ["Nothing here", NOT_FOUND[location.pathname.startsWith("/runs/") ? "run" : "page"]]
      : ["That did not work", describe(error)];
  const heading = el("h1", { tabindex: "-1" }, title);
  document.title = `${title} · Runyard`;
  main.replaceChildren(
    el(
      "section",
      { class: "notice" },
      heading,
      el("p", {}, text),
      el(
        "p",
        { class: "actions" },
        button("Try again", () => open()),
        el("a", { href: "/" }, "All runs"),
      ),
    ),
  );
  heading.focus();
}

/** @param {string} id */
function byId(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no #${id}`);
  return element;
}
