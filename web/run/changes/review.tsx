import { useMutation } from "@tanstack/react-query";
import { MessageSquare, SendHorizontal, Trash2 } from "lucide-react";
import { type FormEvent, useMemo, useState } from "react";
import type { RunItem } from "../../../clients/typescript/src/index.ts";
import { useDraft } from "../../api/use-draft.ts";
import { Button, IconButton } from "../../ui/button.tsx";
import { plural } from "../../ui/format.ts";
import { revealHidden } from "../../ui/hidden-characters.ts";
import { InlineError } from "../../ui/status.tsx";
import { sendFollowup } from "../send-followup.ts";
import { type DiffLine, parseDiff } from "./diff.ts";
import { FileDiffView, type LineNotes } from "./file-diff.tsx";
import { toFileTree } from "./file-tree.ts";
import { FileTree } from "./file-tree-view.tsx";
import { isAt, type LinePlace, type ReviewComment, ReviewComments, toReviewMessage } from "./review-draft.ts";

interface ReviewProps {
  readonly run: RunItem;
  /** The repository's path in the workspace. */
  readonly repository: string;
  readonly patch: string;
  readonly onSent: () => void;
}

/** Files of a larger change are folded, except for the first ones. */
const MAX_OPEN_FILES = 25;
const MAX_OPEN_LINES = 1500;

const toPlace = (path: string, line: DiffLine): LinePlace => ({
  path,
  line: line.after ?? line.before ?? 0,
  isRemoved: line.kind === "remove",
});

/** The change of a repository, file by file, with comments on its lines, which are sent as one follow-up. */
export function Review({ run, repository, patch, onSent }: ReviewProps) {
  const files = useMemo(() => parseDiff(patch), [patch]);
  const tree = useMemo(() => toFileTree(files.map(({ path }) => path)), [files]);
  const [collapsed, setCollapsed] = useState<ReadonlySet<number>>(() => toCollapsed(files));
  const [editing, setEditing] = useState<LinePlace>();
  const draft = useDraft(`review:${run.run_id}`, ReviewComments, []);
  const toggle = (file: number, isCollapsed: boolean) =>
    setCollapsed(new Set(isCollapsed ? [...collapsed, file] : [...collapsed].filter((one) => one !== file)));
  const show = (file: number) => {
    toggle(file, false);
    requestAnimationFrame(() => document.getElementById(fileId(repository, file))?.scrollIntoView({ block: "start" }));
  };
  const own = draft.value.filter((one) => one.repository === repository);
  const others = (place: LinePlace) => draft.value.filter((one) => one.repository !== repository || !isAt(one, place));
  const toNotes = (path: string): LineNotes => ({
    onComment: (line) => setEditing(toPlace(path, line)),
    below: (line) => {
      if (line.kind === "gap") return null;
      const place = toPlace(path, line);
      const comment = own.find((one) => isAt(one, place));
      if (editing !== undefined && isAt(editing, place))
        return (
          <CommentForm
            first={comment?.text ?? ""}
            onSave={(text) => {
              draft.change([...others(place), { ...place, repository, code: line.text, text }]);
              setEditing(undefined);
            }}
            onDiscard={() => setEditing(undefined)}
          />
        );
      return comment === undefined ? null : (
        <Comment comment={comment} onEdit={() => setEditing(place)} onRemove={() => draft.change(others(place))} />
      );
    },
  });
  return (
    <div className="review">
      {files.length > 1 && (
        <nav className="review-tree" aria-label="Changed files">
          <FileTree nodes={tree} files={files} onShow={show} />
        </nav>
      )}
      <div className="review-files">
        {files.map((file, index) => (
          <FileDiffView
            // biome-ignore lint/suspicious/noArrayIndexKey: a patch has each file once, in the same order.
            key={index}
            id={fileId(repository, index)}
            diff={file}
            isCollapsed={collapsed.has(index)}
            onCollapse={(isCollapsed) => toggle(index, isCollapsed)}
            notes={toNotes(file.path)}
          />
        ))}
        {draft.value.length > 0 && (
          <SendComments
            run={run}
            comments={draft.value}
            onSent={() => {
              draft.drop();
              onSent();
            }}
          />
        )}
      </div>
    </div>
  );
}

const fileId = (repository: string, file: number): string => `change-${repository}-${file}`;

function toCollapsed(files: readonly { readonly lines: readonly unknown[] }[]): ReadonlySet<number> {
  const collapsed = new Set<number>();
  let lines = 0;
  files.forEach((file, index) => {
    lines += file.lines.length;
    if (index >= MAX_OPEN_FILES || lines > MAX_OPEN_LINES) collapsed.add(index);
  });
  return collapsed;
}

interface CommentFormProps {
  readonly first: string;
  readonly onSave: (text: string) => void;
  readonly onDiscard: () => void;
}

function CommentForm({ first, onSave, onDiscard }: CommentFormProps) {
  const [text, setText] = useState(first);
  const save = (event?: FormEvent) => {
    event?.preventDefault();
    if (text.trim() !== "") onSave(text.trim());
  };
  return (
    <form className="diff-comment" onSubmit={save}>
      <textarea
        className="input"
        aria-label="Comment"
        // biome-ignore lint/a11y/noAutofocus: the viewer has just asked for the field.
        autoFocus
        rows={3}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
          if (event.key === "Escape") onDiscard();
        }}
      />
      <div className="row">
        <Button type="submit" look="primary" small disabled={text.trim() === ""}>
          Keep the comment
        </Button>
        <Button small onClick={onDiscard}>
          Discard
        </Button>
      </div>
    </form>
  );
}

interface CommentProps {
  readonly comment: ReviewComment;
  readonly onEdit: () => void;
  readonly onRemove: () => void;
}

const Comment = ({ comment, onEdit, onRemove }: CommentProps) => (
  <div className="diff-comment">
    <p className="followup-text">{revealHidden(comment.text)}</p>
    <div className="row">
      <Button small icon={<MessageSquare size={14} aria-hidden />} onClick={onEdit}>
        Edit
      </Button>
      <IconButton label="Remove the comment" onClick={onRemove}>
        <Trash2 size={14} aria-hidden />
      </IconButton>
    </div>
  </div>
);

interface SendProps {
  readonly run: RunItem;
  readonly comments: readonly ReviewComment[];
  readonly onSent: () => void;
}

/** Sends all comments as one follow-up. */
function SendComments({ run, comments, onSent }: SendProps) {
  const send = useMutation({
    mutationFn: () => sendFollowup(run, toReviewMessage(comments)),
    onSuccess: onSent,
  });
  return (
    <div className="review-bar">
      <InlineError error={send.error} />
      <span>{plural(comments.length, "comment")}</span>
      <Button
        look="primary"
        small
        busy={send.isPending}
        icon={<SendHorizontal size={14} aria-hidden />}
        onClick={() => send.mutate()}
      >
        Send as one follow-up
      </Button>
    </div>
  );
}
