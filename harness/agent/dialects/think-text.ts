/** Tags between which models write their reasoning into their text, where the server does not separate it. */
const TAGS: readonly (readonly [string, string])[] = [
  ["<think>", "</think>"],
  ["<thinking>", "</thinking>"],
  ["<thought>", "</thought>"],
  ["<reasoning>", "</reasoning>"],
  ["<seed:think>", "</seed:think>"],
  ["◁think▷", "◁/think▷"],
  ["[THINK]", "[/THINK]"],
  ["<|channel>thought", "<channel|>"],
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
  return splitChannels(start) ?? { reasoning: "", text };
}

const CHANNEL = /^(?:<\|start\|>assistant)?<\|channel\|>(analysis|commentary|final)<\|message\|>/;
const END_OF_MESSAGE = /<\|(?:end|return|call)\|>/;

/** Separates the channels of gpt-oss ("Harmony"). What calls a tool stays as it is, so that it is recognized as such. */
function splitChannels(sent: string): { readonly reasoning: string; readonly text: string } | undefined {
  const thoughts: string[] = [];
  let rest = sent;
  for (;;) {
    const [head, name] = CHANNEL.exec(rest) ?? [];
    if (head === undefined) break;
    const body = rest.slice(head.length);
    const end = END_OF_MESSAGE.exec(body);
    const content = body.slice(0, end?.index);
    if (name === "final") return { reasoning: thoughts.join("\n\n"), text: content.trim() };
    thoughts.push(content.trim());
    rest = end === null ? "" : body.slice(end.index + end[0].length);
  }
  return thoughts.length === 0 ? undefined : { reasoning: thoughts.join("\n\n"), text: rest };
}
