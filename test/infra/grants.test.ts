import { describe, expect, it } from "vitest";
import { grant } from "#infra/constructs/grants.ts";
import type { Rights } from "#infra/rights.ts";

const targets = {
  table: { tableArn: "arn:aws:dynamodb:us-east-1:1:table/runyard", tableName: "runyard" },
  bucket: {
    bucketName: "runyard-files",
    bucketArn: "arn:aws:s3:::runyard-files",
    arnForObjects: (pattern: string) => `arn:aws:s3:::runyard-files/${pattern}`,
  },
};
const RIGHTS: readonly (readonly [name: string, rights: Rights, none: Rights])[] = [
  ["live", { live: ["GetItem"] }, { live: [] }],
  ["runsQueue", { runsQueue: ["SendMessage"] }, { runsQueue: [] }],
  ["endsQueue", { endsQueue: ["SendMessage"] }, { endsQueue: [] }],
  ["eventsQueue", { eventsQueue: ["SendMessage"] }, { eventsQueue: [] }],
  ["deadRunsQueue", { deadRunsQueue: ["DeleteMessage"] }, { deadRunsQueue: [] }],
  ["sandbox", { sandbox: ["InvokeFunction"] }, { sandbox: [] }],
  ["discovery", { discovery: ["InvokeFunction"] }, { discovery: [] }],
  ["sandboxes", { sandboxes: ["start"] }, { sandboxes: [] }],
  ["github", { github: ["GetParameter"] }, { github: [] }],
  ["github", { githubApp: ["GetParameter"] }, { githubApp: [] }],
  ["secretsKey", { secretsKey: ["GetParameter"] }, { secretsKey: [] }],
  ["webhookSecretsKey", { webhookSecretsKey: ["PutParameter"] }, { webhookSecretsKey: [] }],
  ["secrets", { secrets: ["GetParameters"] }, { secrets: [] }],
  ["models", { models: ["call"] }, { models: [] }],
  ["timers", { timers: ["DeleteSchedule"] }, { timers: [] }],
  ["workerSockets", { workerSockets: ["ManageConnections"] }, { workerSockets: [] }],
];

describe("grant", () => {
  it.each(RIGHTS)("refuses a right on %s in a stack that has none: %j", (name, rights, none) => {
    expect(() => grant(rights, targets)).toThrow(`a function has a right on ${name}, which its stack does not know`);
    expect(grant(none, targets), "without an action").toEqual({ statements: [], environment: {} });
  });

  it("grants no permission and sets no variable without a right", () => {
    expect(grant({ table: [], watch: [], vault: [], signInIssuer: [] }, targets)).toEqual({
      statements: [],
      environment: {},
    });
  });
});
