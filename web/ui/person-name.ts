import type { RunItem } from "../../clients/typescript/src/index.ts";
import { revealHidden } from "./hidden-characters.ts";

interface Person {
  readonly display_name?: string | undefined;
  readonly email?: string | undefined;
}

/** The display name of a person or an agent, or else the email address; empty if neither is known. An unset display name is empty. */
export const personName = (person: Person | undefined): string =>
  revealHidden(person?.display_name || person?.email || "");

/** Who works on a run: the agent that it is executed as, or else the person who created it. */
export const runAuthor = ({ executor, creator }: Pick<RunItem, "executor" | "creator">): string =>
  personName(executor?.type === "service_account" ? executor : creator);
