import { once } from "node:events";
import { createServer } from "node:http";
import { PostToConnectionCommand } from "@aws-sdk/client-apigatewaymanagementapi";
import { ListTasksCommand } from "@aws-sdk/client-ecs";
import { InvokeCommand } from "@aws-sdk/client-lambda";
import { GetMicrovmCommand } from "@aws-sdk/client-lambda-microvms";
import { GetObjectCommand } from "@aws-sdk/client-s3";
import { ListSchedulesCommand } from "@aws-sdk/client-scheduler";
import { SetQueueAttributesCommand } from "@aws-sdk/client-sqs";
import { GetParameterCommand } from "@aws-sdk/client-ssm";
import { NodeHttpHandler } from "@smithy/node-http-handler";
import { afterEach, expect, it, vi } from "vitest";
import {
  dynamoClient,
  ecsClient,
  lambdaClient,
  microvmsClient,
  ssmClient,
  waitingLambdaClient,
} from "#shared/aws/clients.ts";
import { s3Client } from "#shared/aws/s3/s3-client.ts";
import { schedulerClient } from "#shared/aws/scheduler-client.ts";
import { socketClient } from "#shared/aws/sockets/socket-client.ts";
import { sqsClient } from "#shared/aws/sqs-client.ts";

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const clean of cleanups.splice(0)) clean();
});

/** Starts a server in place of AWS, which never responds to the first request of each operation if it is `silent`. */
async function startAws({ silent }: { silent: boolean }): Promise<string> {
  const known = new Set<string>();
  const server = createServer(({ url, headers }, response) => {
    const operation = `${headers["x-amz-target"] ?? url}`;
    if (known.size < known.add(operation).size && silent) return;
    response.setHeader("content-type", "application/json").end("{}");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  cleanups.push(() => server.close().closeAllConnections());
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  vi.stubEnv("AWS_ENDPOINT_URL", url);
  vi.stubEnv("AWS_REGION", "eu-west-1");
  vi.stubEnv("AWS_ACCESS_KEY_ID", "id");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "secret");
  cleanups.push(() => vi.unstubAllEnvs());
  return url;
}

it("repeats a call after 5 seconds on a silent connection to a service that responds within milliseconds", async () => {
  const url = await startAws({ silent: true });
  const timed = async (call: Promise<unknown>) => {
    const started = performance.now();
    await call;
    return performance.now() - started;
  };
  const times = await Promise.all([
    timed(dynamoClient().send("GetItem", {})),
    timed(sqsClient().send(new SetQueueAttributesCommand({ QueueUrl: `${url}/1/queue`, Attributes: {} }))),
    timed(ssmClient().send(new GetParameterCommand({ Name: "n" }))),
    timed(schedulerClient().send(new ListSchedulesCommand({}))),
    timed(socketClient(url).send(new PostToConnectionCommand({ ConnectionId: "c", Data: Buffer.from("d") }))),
    timed(lambdaClient().send(new InvokeCommand({ FunctionName: "f", InvocationType: "Event" }))),
  ]);
  for (const time of times) {
    expect(time).toBeGreaterThan(4_900);
    expect(time).toBeLessThan(60_000);
  }
}, 120_000);

it("has more time for services that work before they respond, and most for the result of a function", async () => {
  await startAws({ silent: false });
  const [s3, ecs, microvms, lambda] = [s3Client(), ecsClient(), microvmsClient(), waitingLambdaClient()];
  await s3.send(new GetObjectCommand({ Bucket: "b", Key: "k" }));
  await ecs.send(new ListTasksCommand({}));
  await microvms.send(new GetMicrovmCommand({ microvmIdentifier: "m" }));
  await lambda.send(new InvokeCommand({ FunctionName: "f" }));
  const limits = [s3, ecs, microvms, lambda].map(({ config: { requestHandler } }) =>
    requestHandler instanceof NodeHttpHandler ? requestHandler.httpHandlerConfigs() : undefined,
  );
  const limit = (socketTimeout: number) => expect.objectContaining({ connectionTimeout: 3_100, socketTimeout });
  expect(limits).toEqual([limit(30_000), limit(30_000), limit(30_000), limit(900_000)]);
});
