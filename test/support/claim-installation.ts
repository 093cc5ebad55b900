import { type Installation, installationStore } from "#shared/github/installation-store.ts";
import type { TestControlPlane } from "./control-plane.ts";

/** Has a team own an installation of the GitHub App: the first one of the stand-in, by default. */
export async function claimInstallation(
  { table, clock }: Pick<TestControlPlane, "table" | "clock">,
  team_uid: string,
  more: Partial<Installation> = {},
): Promise<void> {
  await installationStore(table).claim({
    installation_id: 2_000_001,
    team_uid,
    account: { id: 7, login: "acme", type: "Organization" },
    repository_selection: "selected",
    claimed_by: { type: "user", uid: "ada" },
    claimed_at: clock.now,
    ...more,
  });
}
