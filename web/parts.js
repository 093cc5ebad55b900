import { button, el } from "./dom.js";
import { asState } from "./format.js";
import { plainText } from "./text.js";

/** @import { Context } from "./app.js" */

/** @param {string} state */
export function stateBadge(state) {
  return el("span", { class: "badge", "data-state": state }, asState(state));
}

/**
 * A command to copy, by a button or by hand.
 *
 * @param {string} command
 * @param {Context["announce"]} announce
 */
export function copyable(command, announce) {
  const text = el("pre", {}, command);
  const copy = button("Copy", () =>
    navigator.clipboard.writeText(command).then(
      () => announce("Copied"),
      // Without the clipboard, people copy by hand.
      () => getSelection()?.selectAllChildren(text),
    ),
  );
  return el("div", { class: "copyable" }, text, copy);
}

/**
 * A link for an address that a run made up: only https leads anywhere, everything else (`javascript:` above all) stays text.
 *
 * @param {string} address
 * @param {string} label
 */
export function outwardLink(address, label) {
  if (!isHttps(address)) return el("span", {}, `${label} (${address})`);
  return el("a", { href: address, rel: "noopener noreferrer", target: "_blank" }, label);
}

/** @param {string} address */
function isHttps(address) {
  return URL.canParse(address) && new URL(address).protocol === "https:";
}

const HEAD_LINES = 12;
const WHOLE_LINES = 20;
const HEAD_CHARACTERS = 4000;

/**
 * Preformatted text. Of a long one the beginning is shown, and the rest on demand.
 *
 * @param {string} text
 * @param {string} className
 */
export function foldedText(text, className) {
  const plain = plainText(text).trimEnd();
  const lines = plain.split("\n");
  const head = lines.length > WHOLE_LINES ? lines.slice(0, HEAD_LINES).join("\n") : plain;
  const shown = head.length > HEAD_CHARACTERS ? head.slice(0, HEAD_CHARACTERS).toWellFormed() : head;
  const rest = plain.slice(shown.length).replace(/^\n/, "");
  const element = el("div", { class: `folded ${className}` }, el("pre", {}, shown));
  if (rest === "") return element;
  const count = rest.split("\n").length;
  const more =
    count > 1 ? `${count.toLocaleString("en")} more lines` : `${rest.length.toLocaleString("en")} more characters`;
  element.append(el("details", {}, el("summary", {}, `Show ${more}`), el("pre", {}, rest)));
  return element;
}
