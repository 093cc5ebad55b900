import { streamed } from "#shared/http/streamed.ts";
import { modelGateway } from "#shared/model-gateway/gateway.ts";

/** Function URL: the model gateway, by which executions call models with their run's key. */
export const callModel = streamed(modelGateway);
