import { describe, isRefusal } from "./api-client.js";
import { button, el } from "./dom.js";
import { asSize } from "./format.js";
import { outwardLink } from "./parts.js";
import { memberOf, textOf } from "./values.js";

/** @import { ArtifactItem, ArtifactResponse } from "../shared/wire/artifact.ts" */
/** @import { Context } from "./app.js" */

/**
 * What a run has made, each with the way to it.
 *
 * @param {readonly ArtifactItem[]} artifacts
 * @param {Context} context
 */
export function artifactList(artifacts, context) {
  return el("ul", { class: "files" }, ...artifacts.map((artifact) => artifactRow(artifact, context)));
}

/** @param {ArtifactItem} artifact @param {Context} context */
function artifactRow({ artifact_type, data }, context) {
  const [uid, filename, address] = ["artifact_uid", "filename", "url"].map((name) => textOf(data, name));
  const label = textOf(data, "title") ?? filename ?? artifact_type;
  const size = memberOf(data, "size_bytes");
  const facts = [typeof size === "number" ? asSize(size) : undefined, textOf(data, "description")].filter(Boolean);
  const row = el("li", {}, address === undefined ? el("span", { class: "what" }, label) : outwardLink(address, label));
  if (facts.length > 0) row.append(el("span", { class: "facts" }, facts.join(" · ")));
  // Artifacts with an address of their own have no file with the service.
  if (uid !== undefined && address === undefined) {
    const verb = artifact_type === "PLAN" ? "Show" : "Download";
    row.append(download(`${verb} ${filename ?? label}`, `/agent/artifacts/${encodeURIComponent(uid)}`, context));
  }
  return row;
}

/**
 * @param {string} runPath
 * @param {Context} context
 */
export function transcriptLink(runPath, context) {
  return download("Download the transcript", `${runPath}/transcript?redirect=false`, context);
}

/**
 * A button that asks for a file's address, which lives for minutes, and goes there: the answer is an attachment, so the page
 * stays. A plan comes as a text, which is shown as it is.
 *
 * @param {string} label
 * @param {string} path
 * @param {Context} context
 */
function download(label, path, { api, fail }) {
  const problem = el("span", { class: "error", role: "alert" });
  const press = button(label, async () => {
    problem.textContent = "";
    try {
      /** @type {{download_url?: string, data?: {download_url?: string, content?: string}}} */
      const answer = await api.get(path);
      const text = answer.data?.content;
      if (text !== undefined) return element.replaceChildren(el("pre", {}, text));
      const address = answer.data?.download_url ?? answer.download_url;
      if (address === undefined) element.replaceChildren("It has no file.");
      else if (/^https?:\/\//.test(address)) location.assign(address);
      else problem.textContent = "Its address is none that a browser should open.";
    } catch (error) {
      if (isRefusal(error)) fail(error);
      else problem.textContent = describe(error);
    }
  });
  const element = el("span", { class: "download" }, press, problem);
  return element;
}
