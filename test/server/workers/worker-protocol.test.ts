import { afterEach, beforeEach, describe } from "vitest";
import { useServers } from "../support/served.ts";
import { composeForAws, composeSingleMachine } from "../support/worker-compositions.ts";
import type { CompositionWithModel } from "../support/worker-service.ts";
import { workerBudgetContract, workerProtocolContract } from "./worker-protocol-contract.ts";

const servers = useServers();
const compositions = [
  ["the AWS composition", composeForAws],
  ["the single machine", () => composeSingleMachine(servers)],
] as const;

describe.each(compositions)("self-hosted workers of %s", (_, compose) => {
  let service: CompositionWithModel;
  beforeEach(async () => {
    service = await compose();
  });
  afterEach(() => service.stop());

  workerProtocolContract(() => service);
  workerBudgetContract(() => service);
});
