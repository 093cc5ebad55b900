import { revealHidden } from "../ui/hidden-characters.ts";

/** The title of a run, with hidden characters made visible. */
export const titleOf = ({ title }: { readonly title: string }): string => revealHidden(title.trim() || "Untitled");
