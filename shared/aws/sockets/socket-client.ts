import { ApiGatewayManagementApiClient } from "@aws-sdk/client-apigatewaymanagementapi";
import { hooked, settings } from "../client-settings.ts";

/** The client of one WebSocket API at its management endpoint, which cannot be derived from the region. */
export const socketClient = (endpoint: string): ApiGatewayManagementApiClient =>
  hooked(new ApiGatewayManagementApiClient({ ...settings, endpoint }));
