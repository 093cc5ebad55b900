import * as v from "valibot";
import { invocation } from "#shared/queue/invocation.ts";
import { discover } from "#shared/skills/discover.ts";
import { SkillRepository } from "#shared/skills/repository.ts";
import type { DiscoveryPorts } from "#shared/skills/skill-ports.ts";

const Discovery = v.object({ v: v.literal(1), ...SkillRepository.entries });

/** Discovers the skills of one repository and stores them for the list of agents. */
export const discoverSkills = invocation(async (event: unknown, ports: DiscoveryPorts): Promise<void> => {
  const { v: _, ...repository } = v.parse(Discovery, event);
  await discover(repository, ports);
});
