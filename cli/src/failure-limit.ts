import { Option } from "@commander-js/extra-typings";
import { wholeNumber } from "./options.ts";

/** After how many failures a schedule or a trigger pauses itself. */
export const pauseAfterOption = () =>
  new Option(
    "--pause-after <failures>",
    "pause it after this number of runs that fail in a row, at most 10; 0: never",
  ).argParser(wholeNumber(0, 10));

/** After how many failures it pauses itself; undefined where it does not. */
export const describeFailureLimit = (limit: number | undefined): string | undefined =>
  limit === undefined ? undefined : `${limit} failed runs in a row`;
