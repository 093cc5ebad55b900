import * as v from "valibot";
import { textOfBytes } from "../primitives.ts";

const FORM = "must be a name and an email address, such as Build Bot <bot@example.com>";
/** The author and committer of commits in the format of git: a name, and an email address in angle brackets. */
export const CommitAuthor = v.pipe(textOfBytes(512, 1), v.regex(/^[^\s<>][^<>\r\n]* <[^\s<>@]+@[^\s<>@]+>$/, FORM));

/** The same, or `""`, which clears it. */
export const ClearableCommitAuthor = v.pipe(
  textOfBytes(512),
  v.regex(/^(?:[^\s<>][^<>\r\n]* <[^\s<>@]+@[^\s<>@]+>)?$/, FORM),
);
