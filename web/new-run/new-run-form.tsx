import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { CalendarPlus, Play } from "lucide-react";
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { client } from "../api/client.ts";
import { fieldError, isRefused } from "../api/problem.ts";
import { refreshQueries } from "../api/query-client.ts";
import { useDraft } from "../api/use-draft.ts";
import { Button } from "../ui/button.tsx";
import { CheckField, TextArea, TextField } from "../ui/field.tsx";
import { InlineError } from "../ui/status.tsx";
import { AttachmentPicker, checkFiles } from "./attachments.tsx";
import { checkTexts, Draft, type DraftProps, toRunRequest, toScheduleRequest } from "./draft.ts";
import { RunOptions } from "./run-options.tsx";
import { SchedulePart } from "./schedule-part.tsx";
import { SnippetPanel } from "./snippet-panel.tsx";

type Kept = ReturnType<typeof useDraft<Draft>>;

interface NewRunFormProps {
  /** The name under which the tab keeps what was written and not sent. */
  readonly name: string;
  readonly first: Draft;
}

/** The form of a new run or schedule, next to the same request as code. */
export function NewRunForm({ name, first }: NewRunFormProps) {
  const draftState = useDraft(name, Draft, first);
  const { value: draft } = draftState;
  const [files, setFiles] = useState<readonly File[]>([]);
  const [missing, setMissing] = useState<string>();
  const submit = useSubmit(draftState, files);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (submit.error !== null) focusRefused(form.current);
  }, [submit.error]);
  const change = (changes: Partial<Draft>) => draftState.change({ ...draft, ...changes });
  const attach = (next: readonly File[]) => {
    setFiles(next);
    change({ attached: next.map((file) => file.name) });
  };
  const discard = () => {
    draftState.drop();
    setFiles([]);
    setMissing(undefined);
    submit.reset();
    form.current?.querySelector("textarea")?.focus();
  };
  const onSubmit = (event?: FormEvent) => {
    event?.preventDefault();
    const isEmpty = draft.prompt.trim() === "" && draft.skill.trim() === "";
    const fault = isEmpty ? "Write a prompt, or choose a skill." : checkFiles(files);
    setMissing(fault);
    if (fault !== undefined) form.current?.querySelector("textarea")?.focus();
    else if (Object.keys(checkTexts(draft)).length > 0) focusRefused(form.current);
    else if (!submit.isPending) submit.mutate();
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) onSubmit();
  };
  return (
    <div className="new-run-columns">
      <form ref={form} className="stack" onSubmit={onSubmit} onKeyDown={onKey} noValidate>
        <section className="card card-body stack">
          <TextArea
            label="Prompt"
            rows={9}
            autoFocus
            placeholder="What should the agent do?"
            value={draft.prompt}
            error={missing ?? fieldError(submit.error, "prompt")}
            onChange={(event) => change({ prompt: event.target.value })}
          />
          {!draft.isScheduled && <AttachmentPicker files={files} names={draft.attached} onChange={attach} />}
          <TextField
            label="Title"
            optional
            maxLength={512}
            placeholder="The first line of the prompt"
            value={draft.title}
            onChange={(event) => change({ title: event.target.value })}
          />
        </section>
        <RunOptions draft={draft} onChange={change} error={submit.error} />
        <ScheduleOption draft={draft} onChange={change} error={submit.error} />
        <InlineError error={submit.error} />
        <div className="row">
          <SubmitButton isScheduled={draft.isScheduled} busy={submit.isPending} />
          {draftState.isChanged && (
            <Button look="ghost" onClick={discard}>
              Discard
            </Button>
          )}
          <span className="faint">Ctrl + Enter</span>
        </div>
      </form>
      <SnippetPanel draft={draft} files={files} />
    </div>
  );
}

const ScheduleOption = (props: DraftProps) => (
  <section className="card card-body stack">
    <CheckField
      label="Schedule it"
      hint="Creates a schedule that runs this prompt at the times of a cron expression."
      checked={props.draft.isScheduled}
      onChange={(event) => props.onChange({ isScheduled: event.target.checked })}
    />
    {props.draft.isScheduled && <SchedulePart {...props} />}
  </section>
);

const SubmitButton = ({ isScheduled, busy }: { readonly isScheduled: boolean; readonly busy: boolean }) => (
  <Button
    type="submit"
    look="primary"
    busy={busy}
    icon={isScheduled ? <CalendarPlus size={16} aria-hidden /> : <Play size={16} aria-hidden />}
  >
    {isScheduled ? "Create the schedule" : "Start the run"}
  </Button>
);

/** A refused field may be far above the button, or folded. */
function focusRefused(form: HTMLFormElement | null): void {
  const field = form?.querySelector<HTMLElement>("[aria-invalid=true]");
  field?.closest("details")?.setAttribute("open", "");
  field?.focus();
}

/** Uploads the files, creates the run or the schedule, and opens it. */
function useSubmit({ value: draft, drop }: Kept, files: readonly File[]) {
  const navigate = useNavigate();
  // A request that is sent again has the same attachments, so that it is the same request.
  const uploaded = useRef(new Map<File, string>());
  const upload = async (file: File): Promise<string> => {
    const id =
      uploaded.current.get(file) ??
      (await client.attachments.upload({ file_name: file.name, mime_type: file.type || undefined, data: file }));
    uploaded.current.set(file, id);
    return id;
  };
  return useMutation({
    mutationFn: async () => {
      if (draft.isScheduled) {
        const { id } = await client.schedules.create(toScheduleRequest(draft));
        await refreshQueries({ queryKey: ["schedules"] });
        await navigate({ to: "/schedules/$scheduleId", params: { scheduleId: id } });
        return drop();
      }
      const attachments = await Promise.all(files.map(async (file) => ({ attachment_id: await upload(file) })));
      const { run_id } = await client.runs.create({
        ...toRunRequest(draft),
        ...(attachments.length === 0 ? {} : { attachments }),
      });
      await navigate({ to: "/runs/$runId", params: { runId: run_id } });
      drop();
    },
    onError: (error) => {
      // An attachment may have expired.
      if (isRefused(error)) uploaded.current.clear();
    },
  });
}
