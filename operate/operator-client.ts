import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoClient } from "#shared/aws/dynamo-client.ts";
import { aboutCredentials } from "./by-hand.ts";

/** A client of DynamoDB with the region and the credentials that the SDK finds for a person, in profiles for example. */
export async function operatorClient(): Promise<DynamoClient> {
  const { config } = new DynamoDBClient({});
  const region = await config.region().catch((error: unknown) => {
    throw aboutCredentials(error);
  });
  return new DynamoClient({ region, credentials: config.credentials });
}
