import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { DynamoClient } from "#shared/aws/dynamo-client.ts";

/** A client of DynamoDB with the region and the credentials that the SDK finds for a person, in profiles for example. */
export async function operatorClient(): Promise<DynamoClient> {
  const { config } = new DynamoDBClient({});
  return new DynamoClient({ region: await config.region(), credentials: config.credentials });
}
