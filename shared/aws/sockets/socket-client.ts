import { ApiGatewayManagementApiClient } from "@aws-sdk/client-apigatewaymanagementapi";
import { hooked, settings } from "../client-settings.ts";

/** The client of one WebSocket API, by its management endpoint: an address of its own, which no region leads to. */
export const socketClient = (endpoint: string): ApiGatewayManagementApiClient =>
  hooked(new ApiGatewayManagementApiClient({ ...settings, endpoint }));
