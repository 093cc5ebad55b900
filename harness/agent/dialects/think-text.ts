/** Tags between which models write their reasoning into their text, where the server does not separate it. */
const TAGS: readonly (readonly [string, string])[] = [
  ["<think>", "</think>"],
  ["<thinking>", "</thinking>"],
  ["<seed:think>", "</seed:think>"],
  ["◁think▷", "◁/think▷"],
];

/** Separates reasoning at the beginning of a text from the rest. */
export function splitReasoning(text: string): { readonly reasoning: string; readonly text: string } {
  const start = text.trimStart();
  for (const [open, close] of TAGS) {
    if (start.startsWith(open)) {
      const end = start.indexOf(close);
      const reasoning = start.slice(open.length, end < 0 ? undefined : end).trim();
      return { reasoning, text: end < 0 ? "" : start.slice(end + close.length).trimStart() };
    }
    // Some templates write the opening tag into the prompt. The closing tag is on a line of its own then.
    const end = start.indexOf(`\n${close}\n`);
    if (end >= 0 && !start.slice(0, end).includes(open) && !start.slice(0, end).includes("```")) {
      return { reasoning: start.slice(0, end).trim(), text: start.slice(end + close.length + 2).trimStart() };
    }
  }
  return { reasoning: "", text };
}
