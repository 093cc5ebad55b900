import type { HttpPorts } from "#shared/http/endpoint.ts";
import { liveIdentities } from "#shared/identities/live.ts";
import { settingIfAny } from "#shared/settings.ts";
import type { TeamPorts } from "./ports.ts";

/** The ports of teams and people on AWS. */
export const liveTeams = (): TeamPorts & HttpPorts => ({ ...liveIdentities(), webUrl: settingIfAny("WEB_URL") });
