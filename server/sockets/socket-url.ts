/** The address that workers connect to: any path of the server's port. */
export const toSocketUrl = (webUrl: string): string => `${webUrl.replace(/^http/, "ws")}/workers`;
