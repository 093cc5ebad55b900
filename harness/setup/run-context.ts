import type { ResolvePromptResponse } from "#shared/wire/harness.ts";

/** What the service tells an execution about its run. */
export type RunContext = NonNullable<ResolvePromptResponse["context"]>;
