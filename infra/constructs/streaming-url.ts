import { Fn } from "aws-cdk-lib";
import { CfnPermission, CfnUrl, type IFunction } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";

/**
 * Creates a URL that streams the responses of a function. Anybody may call it: the function authenticates its callers itself.
 * @param cors what pages of other origins may do; Lambda answers their preflight requests itself
 * @returns the host of the URL
 */
export function addStreamingUrl(scope: Construct, lambda: IFunction, cors?: CfnUrl.CorsProperty): string {
  const authType = "NONE";
  const url = new CfnUrl(scope, "Url", {
    authType,
    invokeMode: "RESPONSE_STREAM",
    targetFunctionArn: lambda.functionArn,
    ...(cors !== undefined && { cors }),
  });
  // A public URL needs both permissions. The second one applies only to calls through the URL.
  const everybody = { functionName: lambda.functionArn, principal: "*" };
  new CfnPermission(scope, "CallUrl", {
    ...everybody,
    action: "lambda:InvokeFunctionUrl",
    functionUrlAuthType: authType,
  });
  new CfnPermission(scope, "Invoke", { ...everybody, action: "lambda:InvokeFunction", invokedViaFunctionUrl: true });
  return Fn.select(2, Fn.split("/", url.attrFunctionUrl));
}
