/** The region and the account that the local cloud simulates. */
export const REGION = "us-east-1";
export const ACCOUNT = "000000000000";
