/** What the table needs of the SDK. The bundler makes it a part of its own; see infra/bundle-parts.ts. */
// biome-ignore lint/performance/noBarrelFile: It names what the part contains; nothing else is exported.
export { DynamoDBClient, TransactionCanceledException } from "@aws-sdk/client-dynamodb";
export {
  BatchGetCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
} from "@aws-sdk/lib-dynamodb";
