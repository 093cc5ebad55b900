import { Component, type ReactNode } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { CopyButton } from "../button.tsx";
import { Code } from "../code.tsx";
import { revealHidden } from "../hidden-characters.ts";
import { OutsideLink } from "../outside-link.tsx";

/** Text as Markdown. Raw HTML in it is shown as text, and images are links. Shows `plain` if the rendering fails. */
export const MarkdownView = ({ text, plain }: { readonly text: string; readonly plain: ReactNode }) => (
  <Guard fallback={plain}>
    <div className="markdown" dir="auto">
      <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS} urlTransform={keepUrl}>
        {revealHidden(text)}
      </ReactMarkdown>
    </div>
  </Guard>
);

/** The part of Markdown's tree that is used here. */
interface Node {
  readonly type: string;
  children?: Node[];
  value?: string;
  readonly position?: { readonly start: { readonly offset?: number }; readonly end: { readonly offset?: number } };
}

/** Deeper elements are shown as their source, because browsers lay out deep pages slowly. */
const MAX_DEPTH = 24;

const limitDepth = () => (tree: Node, file: { toString(): string }) => flatten(tree, 0, file.toString());

function flatten(node: Node, depth: number, source: string): void {
  if (node.children === undefined) return;
  node.children = node.children.map((child) => {
    if (child.children === undefined || depth < MAX_DEPTH) {
      flatten(child, depth + 1, source);
      return child;
    }
    return { type: "text", value: source.slice(child.position?.start.offset, child.position?.end.offset) };
  });
}

/** References such as `&#x202E;` become characters only when the text is parsed. */
const revealReferences = () => revealValues;

function revealValues(node: Node): void {
  if (node.value !== undefined) node.value = revealHidden(node.value);
  node.children?.forEach(revealValues);
}

const PLUGINS = [remarkGfm, limitDepth, revealReferences];

/** `OutsideLink` decides what is a link. */
const keepUrl = (url: string): string => url;

const COMPONENTS: Components = {
  a: ({ href, children }) => <OutsideLink href={href ?? ""}>{children}</OutsideLink>,
  // An image would reveal to its server who reads the conversation, and when.
  img: ({ src, alt }) => (
    <OutsideLink href={String(src ?? "")}>{`Image: ${revealHidden(alt || String(src ?? ""))}`}</OutsideLink>
  ),
  pre: ({ children }) => <div className="code-block">{children}</div>,
  code: ({ className, children }) => {
    const text = String(children ?? "");
    const language = /language-([\w+-]+)/.exec(className ?? "")?.[1];
    if (language === undefined && !text.includes("\n")) return <code>{children}</code>;
    return (
      <>
        <span className="code-block-head">
          <span>{language ?? "text"}</span>
          <CopyButton text={text} label="Copy code" />
        </span>
        <Code text={text.replace(/\n$/, "")} language={language} />
      </>
    );
  },
  // Headings of messages stand below that of the message, and leave out no level.
  h1: ({ children }) => <h4 className="markdown-h1">{children}</h4>,
  h2: ({ children }) => <h4 className="markdown-h2">{children}</h4>,
  h3: ({ children }) => <h4>{children}</h4>,
  h5: ({ children }) => <h4>{children}</h4>,
  h6: ({ children }) => <h4>{children}</h4>,
  table: ({ children }) => (
    <div
      className="table-scroll"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
      tabIndex={0}
    >
      <table>{children}</table>
    </div>
  ),
  input: ({ checked }) => <span>{checked === true ? "☑ " : "☐ "}</span>,
};

/** Shows the plain text if the rendering fails, for example because the nesting is too deep. */
class Guard extends Component<{ readonly fallback: ReactNode; readonly children: ReactNode }, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    return this.state.failed ? this.props.fallback : this.props.children;
  }
}
