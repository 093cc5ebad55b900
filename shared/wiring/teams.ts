import type { HttpPorts } from "#shared/http/endpoint.ts";
import type { LimitPorts, TeamPorts } from "#shared/teams/team-ports.ts";
import { createRunQueue } from "#shared/wiring/adapters.ts";
import { createTablePorts } from "./common.ts";

/** The ports of the endpoints of teams, members, invitations and users. */
export const createTeamPorts = (): TeamPorts & HttpPorts => createTablePorts();

/** As `createTeamPorts`, for a change of limits, which may start waiting runs. */
export const createLimitPorts = (): LimitPorts & HttpPorts => ({ ...createTeamPorts(), queue: createRunQueue() });
