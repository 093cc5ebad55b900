import { Paperclip, X } from "lucide-react";
import { useRef } from "react";
import { Button, IconButton } from "../ui/button.tsx";
import { formatBytes } from "../ui/format.ts";

const MAX_FILES = 5;
const MAX_BYTES = 100 * 1024 * 1024;

/** What is wrong with files for a run, if anything is. */
export function checkFiles(files: readonly File[]): string | undefined {
  if (files.length > MAX_FILES) return `A run has at most ${MAX_FILES} attachments.`;
  const large = files.find((file) => file.size > MAX_BYTES);
  return large === undefined ? undefined : `${large.name} is larger than ${formatBytes(MAX_BYTES)}.`;
}

interface AttachmentsProps {
  readonly files: readonly File[];
  /** The names of files that were attached, also before the page was loaded again. */
  readonly names: readonly string[];
  readonly onChange: (files: readonly File[]) => void;
}

/** The files that are uploaded for a run. */
export function AttachmentPicker({ files, names, onChange }: AttachmentsProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <div className="attachments">
      <input
        ref={input}
        type="file"
        multiple
        className="visually-hidden"
        aria-label="Attach files"
        tabIndex={-1}
        onChange={(event) => {
          onChange([...files, ...(event.target.files ?? [])]);
          event.target.value = "";
        }}
      />
      <Button small icon={<Paperclip size={14} aria-hidden />} onClick={() => input.current?.click()}>
        Attach files
      </Button>
      {files.length === 0 && names.length > 0 && <span className="faint">Attach again: {names.join(", ")}</span>}
      {files.map((file, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two files may have the same name.
        <span key={index} className="chip">
          <span className="truncate">{file.name}</span> {formatBytes(file.size)}
          <IconButton label={`Remove ${file.name}`} onClick={() => onChange(files.filter((one) => one !== file))}>
            <X size={12} aria-hidden />
          </IconButton>
        </span>
      ))}
    </div>
  );
}
