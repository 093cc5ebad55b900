import { errorAt } from "../api/problem.ts";
import { CheckField, TextField } from "../ui/field.tsx";
import { blankRepository, type PartProps } from "./environment-draft.ts";
import { Rows } from "./rows.tsx";

/** The repositories of an environment, and how each is cloned. */
export const RepositoryFields = ({ draft, error, change }: PartProps) => (
  <Rows
    title="Repositories"
    item="repository"
    error={errorAt(error, "repositories")}
    rows={draft.repositories}
    max={10}
    blank={blankRepository}
    onChange={(repositories) => change({ repositories })}
  >
    {({ url, ref, path, token_secret, depth, sparse_paths, submodules, lfs }, index, set) => {
      const at = (name: string) => errorAt(error, `repositories[${index}].${name}`);
      return (
        <>
          <TextField
            label={`Repository ${index + 1}`}
            inputMode="url"
            placeholder="https://github.com/owner/repo"
            autoCapitalize="none"
            spellCheck={false}
            value={url}
            error={at("url")}
            onChange={(event) => set({ url: event.target.value })}
          />
          <div className="field-row">
            <TextField
              label="Branch, tag or commit"
              optional
              value={ref}
              error={at("ref")}
              onChange={(event) => set({ ref: event.target.value })}
            />
            <TextField
              label="Directory"
              optional
              value={path}
              error={at("path")}
              onChange={(event) => set({ path: event.target.value })}
            />
            <TextField
              label="Secret with its token"
              optional
              value={token_secret}
              error={at("token_secret")}
              onChange={(event) => set({ token_secret: event.target.value })}
            />
          </div>
          <div className="field-row">
            <TextField
              label="Commits"
              optional
              inputMode="numeric"
              placeholder="The whole history"
              value={depth}
              error={at("depth")}
              onChange={(event) => set({ depth: event.target.value })}
            />
            <TextField
              label="Directories to check out"
              optional
              placeholder="All, or: services/api, docs"
              autoCapitalize="none"
              spellCheck={false}
              value={sparse_paths}
              error={at("sparse_paths") ?? at("sparse_paths[0]")}
              onChange={(event) => set({ sparse_paths: event.target.value })}
            />
          </div>
          <div className="field-row">
            <CheckField
              label="Submodules"
              checked={submodules}
              onChange={(event) => set({ submodules: event.target.checked })}
            />
            <CheckField
              label="Files in Git LFS"
              checked={lfs}
              onChange={(event) => set({ lfs: event.target.checked })}
            />
          </div>
        </>
      );
    }}
  </Rows>
);
