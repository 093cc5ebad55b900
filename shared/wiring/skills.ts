import { dynamoClient, lambdaClient, s3Client, ssmClient } from "#shared/aws/clients.ts";
import { dynamoTable } from "#shared/aws/dynamo-table.ts";
import { callFunction } from "#shared/aws/lambda-call.ts";
import { s3FileStore } from "#shared/aws/s3-files.ts";
import { ssmParameter } from "#shared/aws/ssm-parameter.ts";
import type { HttpPorts } from "#shared/http/endpoint.ts";
import { setting, signedUrlSeconds } from "#shared/settings.ts";
import type { Github } from "#shared/skills/github-access.ts";
import type { DiscoveryPorts, SkillPorts } from "#shared/skills/ports.ts";
import { liveGithubApi, liveGithubApp } from "./github-app.ts";
import { liveIdentities } from "./identities.ts";

/** Milliseconds that a call of the function which looks into a repository may take, and that of a sandbox. */
const DISCOVERY_MS = 25_000;
const SCAN_MS = 21_000;

/** The ports of the list of agents on AWS: it reads what is kept, and has another function look. */
export function liveSkills(): SkillPorts & HttpPorts {
  const lambda = lambdaClient();
  return {
    ...liveIdentities(),
    files: liveFiles(),
    discovery: {
      async refresh({ url, ref }) {
        const event = { v: 1, url, ...(ref === undefined ? {} : { ref }) };
        await callFunction(lambda, setting("DISCOVERY_FUNCTION_NAME"), event, { timeoutMs: DISCOVERY_MS });
      },
    },
  };
}

/** The ports of whoever looks into repositories, on AWS. */
export function liveDiscovery(): DiscoveryPorts {
  const lambda = lambdaClient();
  return {
    table: dynamoTable(dynamoClient(), setting("TABLE_NAME")),
    files: liveFiles(),
    now: Date.now,
    github: liveGithub(),
    scanner: {
      scan: (request) =>
        callFunction(lambda, setting("SANDBOX_FUNCTION_NAME"), request, { timeoutMs: SCAN_MS, isolated: true }),
    },
  };
}

function liveGithub(): Github {
  const now = Date.now;
  return {
    ...liveGithubApi(),
    token: ssmParameter(ssmClient(), setting("GITHUB_TOKEN_PARAMETER"), now),
    app: liveGithubApp(),
  };
}

const liveFiles = () => s3FileStore(s3Client(), () => setting("BUCKET_NAME"), signedUrlSeconds(), Date.now);
