import { FileText, Folder } from "lucide-react";
import { revealHidden } from "../../ui/hidden-characters.ts";
import type { FileDiff } from "./diff.ts";
import type { TreeNode } from "./file-tree.ts";

interface FileTreeProps {
  readonly nodes: readonly TreeNode[];
  readonly files: readonly FileDiff[];
  readonly onShow: (file: number) => void;
}

/** The changed files by directory. */
export const FileTree = ({ nodes, files, onShow }: FileTreeProps) => (
  <ul className="file-tree">
    {nodes.map(({ name, file, children }) => (
      <li key={`${name}${file ?? "/"}`}>
        {file === undefined ? (
          <>
            <span className="file-tree-name">
              <Folder size={14} aria-hidden />
              <span className="truncate">{revealHidden(name)}</span>
            </span>
            <FileTree nodes={children} files={files} onShow={onShow} />
          </>
        ) : (
          <button type="button" className="file-tree-name" title={revealHidden(name)} onClick={() => onShow(file)}>
            <FileText size={14} aria-hidden />
            <span className="truncate">{revealHidden(name)}</span>
            <Counts file={files[file]} />
          </button>
        )}
      </li>
    ))}
  </ul>
);

const Counts = ({ file }: { readonly file: FileDiff | undefined }) => (
  <span className="diff-count">
    {(file?.added ?? 0) > 0 && <span className="diff-added">+{file?.added}</span>}
    {(file?.removed ?? 0) > 0 && <span className="diff-removed">−{file?.removed}</span>}
  </span>
);
