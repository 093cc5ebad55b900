import { text } from "node:stream/consumers";
import TurndownService from "turndown";

// A program that converts the page of its standard input to Markdown. Pages are written by strangers, and one may take any time and memory.

/** The most that is returned, which is more than a run reads: nesting can make the Markdown of a page much longer than the page. */
const MAX_CHARACTERS = 1024 * 1024;

const converter = new TurndownService({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-" });
converter.remove(["script", "style", "noscript", "template", "iframe", "form", "nav", "link", "meta"]);
converter.addRule("image", {
  filter: "img",
  replacement: (_, image) => {
    const text = "getAttribute" in image ? image.getAttribute("alt") : null;
    return text === null || text.trim() === "" ? "" : `[image: ${text.trim()}]`;
  },
});
converter.addRule("cell", {
  filter: ["td", "th"],
  replacement: (content) =>
    ` ${content
      .trim()
      .replace(/\s*\n\s*/g, " ")
      .replaceAll("|", "\\|")} |`,
});
converter.addRule("row", {
  filter: "tr",
  replacement: (content, row) => {
    const cells = Array.from(row.childNodes, ({ nodeName }) => nodeName).filter(
      (name) => name === "TD" || name === "TH",
    );
    const isFirst = row.parentNode?.previousSibling?.nodeName !== "THEAD" && row.previousSibling === null;
    const line = `\n|${content.trim() === "" ? "" : ` ${content.trim()}`}`;
    return isFirst ? `${line}\n|${cells.map(() => " --- |").join("")}` : line;
  },
});
converter.addRule("table", { filter: "table", replacement: (content) => `\n\n${content.trim()}\n\n` });

const html = await text(process.stdin);
const title = /<title[^>]*>([^<]*)/i.exec(html)?.[1]?.trim();
const markdown = converter.turndown(html).trim().slice(0, MAX_CHARACTERS);
process.stdout.write(JSON.stringify({ markdown, title }));
