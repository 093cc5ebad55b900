import { beforeAll, describe, expect, it } from "vitest";
import { type Synthesized, synthesize } from "./synthesize.ts";

let aws: Synthesized;
let local: Synthesized;
beforeAll(() => {
  aws = synthesize();
  local = synthesize({ stage: "local", baseUrl: "http://127.0.0.1:4500/api/v1", webUrl: "http://127.0.0.1:4500" });
});

interface ApiProperties {
  readonly ProtocolType: string;
}
interface FunctionProperties {
  readonly FunctionName: string;
  readonly Environment: { Variables: Record<string, unknown> };
}
const getVariables = (deployment: Synthesized, name: string) =>
  deployment
    .all<FunctionProperties>("AWS::Lambda::Function")
    .find(({ Properties }) => Properties.FunctionName === `runyard-${name}`)?.Properties.Environment.Variables ?? {};

describe("the WebSocket API of workers", () => {
  it("has a function for each event of a connection, which API Gateway may invoke for that event only", () => {
    const apis = aws.all<ApiProperties>("AWS::ApiGatewayV2::Api");
    // The other two are of callers and of harnesses.
    expect(apis.map(({ Properties }) => Properties.ProtocolType).toSorted()).toEqual(["HTTP", "HTTP", "WEBSOCKET"]);
    const keys = aws
      .all<{ RouteKey: string }>("AWS::ApiGatewayV2::Route")
      .filter(({ stack }) => stack === "Runyard-Execution")
      .map(({ Properties }) => Properties.RouteKey);
    expect(keys).toEqual(["$connect", "$disconnect", "$default"]);
    const sources = aws
      .all<{ SourceArn: unknown; Principal: string }>("AWS::Lambda::Permission")
      .filter(({ stack, Properties }) => stack === "Runyard-Execution" && /apigateway/.test(Properties.Principal))
      .map(({ Properties }) => JSON.stringify(Properties.SourceArn));
    for (const key of keys) expect(sources.filter((arn) => arn.includes(`/workers/${key}"`))).toHaveLength(1);
  });

  it("is throttled as a whole", () => {
    const stages = aws
      .all<{ StageName: string; DefaultRouteSettings: object }>("AWS::ApiGatewayV2::Stage")
      .filter(({ Properties }) => Properties.StageName === "workers");
    expect(stages.map(({ Properties }) => Properties.DefaultRouteSettings)).toEqual([
      { ThrottlingRateLimit: 200, ThrottlingBurstLimit: 500 },
    ]);
  });

  it("passes its endpoint to the functions that send frames, and its URL to the list of workers", () => {
    for (const name of ["dispatch-run", "end-run", "receive-frame"]) {
      expect(JSON.stringify(getVariables(aws, name)["WORKER_SOCKET_ENDPOINT"]), name).toContain("https://");
    }
    expect(getVariables(aws, "connect-worker")).not.toHaveProperty("WORKER_SOCKET_ENDPOINT");
    expect(JSON.stringify(getVariables(aws, "list-workers")["WORKER_SOCKET_URL"])).toContain("wss://");
    expect(JSON.stringify(getVariables(local, "dispatch-run")["WORKER_SOCKET_ENDPOINT"])).toContain(
      "/_aws/execute-api/",
    );
  });

  it("has no route response and no custom domain, which emulators and idle accounts lack", () => {
    expect(aws.all("AWS::ApiGatewayV2::RouteResponse")).toEqual([]);
    expect(aws.all("AWS::ApiGatewayV2::DomainName")).toEqual([]);
  });
});
