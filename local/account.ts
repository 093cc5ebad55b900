/** Where the local cloud pretends to be. */
export const REGION = "us-east-1";
export const ACCOUNT = "000000000000";
