export interface TreeNode {
  /** The names of the directories that contain only each other, or the name of a file. */
  readonly name: string;
  /** The place of the file in the list; absent for a directory. */
  readonly file?: number;
  readonly children: readonly TreeNode[];
}

/** Arranges files by their directories, in the order of their paths: directories first. */
export function toFileTree(paths: readonly string[]): readonly TreeNode[] {
  const files = paths.map((path, file) => ({ names: path.split("/"), file }));
  return toNodes(files);
}

interface File {
  readonly names: readonly string[];
  readonly file: number;
}

function toNodes(files: readonly File[]): TreeNode[] {
  const below = Map.groupBy(
    files.filter(({ names }) => names.length > 1),
    ({ names }) => names[0] ?? "",
  );
  const directories = [...below].map(([name, inside]) =>
    merge({ name, children: toNodes(inside.map(({ names, file }) => ({ names: names.slice(1), file }))) }),
  );
  const own = files.flatMap(({ names, file }) =>
    names.length === 1 ? [{ name: names[0] ?? "", file, children: [] }] : [],
  );
  const byName = (one: TreeNode, other: TreeNode) => (one.name < other.name ? -1 : 1);
  return [...directories.toSorted(byName), ...own.toSorted(byName)];
}

/** A directory that contains nothing but a directory is one node with it. */
function merge(node: TreeNode): TreeNode {
  const [child, ...others] = node.children;
  if (child === undefined || others.length > 0 || child.file !== undefined) return node;
  return { name: `${node.name}/${child.name}`, children: child.children };
}
