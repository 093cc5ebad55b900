import { common, createLowlight } from "lowlight";

export interface Token {
  readonly text: string;
  /** Class names, empty for plain text. */
  readonly style: string;
}

const lowlight = createLowlight(common);

/** The tree of lowlight, as far as it is used here. */
interface Node {
  readonly type: string;
  readonly value?: string;
  readonly properties?: { readonly className?: unknown };
  readonly children?: readonly Node[];
}

/** Splits code into tokens. An unknown language is one token. */
export function highlight(text: string, language: string): Token[] {
  const name = language.toLowerCase();
  if (!lowlight.registered(name)) return [{ text, style: "" }];
  const tokens: Token[] = [];
  collect(lowlight.highlight(name, text), "", tokens);
  return tokens;
}

function collect(node: Node, style: string, tokens: Token[]): void {
  if (node.type === "text") tokens.push({ text: node.value ?? "", style });
  const names = node.properties?.className;
  const own = Array.isArray(names) ? names.join(" ") : style;
  for (const child of node.children ?? []) collect(child, own, tokens);
}
