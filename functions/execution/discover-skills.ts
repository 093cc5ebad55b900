import * as v from "valibot";
import { discover } from "#shared/skills/discover.ts";
import type { DiscoveryPorts } from "#shared/skills/ports.ts";
import { SkillRepository } from "#shared/skills/repository.ts";
import { liveDiscovery } from "#shared/wiring/skills.ts";

const Discovery = v.object({ v: v.literal(1), ...SkillRepository.entries });

/** A synchronous invocation: looks into one repository for skills and keeps what it finds; the list of agents reads it. */
export const discoverSkills = {
  async handle(event: unknown, ports: DiscoveryPorts): Promise<void> {
    const { url, ref } = v.parse(Discovery, event);
    await discover({ url, ...(ref === undefined ? {} : { ref }) }, ports);
  },
};

let ports: DiscoveryPorts | undefined;

export async function handler(event: unknown): Promise<void> {
  ports ??= liveDiscovery();
  return discoverSkills.handle(event, ports);
}
