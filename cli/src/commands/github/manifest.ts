/** What differs between the Apps of deployments. */
export interface AppSettings {
  /** Public address of the deployment, without a slash at its end. */
  readonly webUrl: string;
  readonly name: string;
  /** Whether other accounts than the owner's can install the App. */
  readonly isPublic: boolean;
  /** Where GitHub redirects to with the code of the created App. */
  readonly redirectUrl: string;
}

/**
 * The manifest of an App with the least rights that all uses need together.
 * @see https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest
 */
export const toManifest = ({ webUrl, name, isPublic, redirectUrl }: AppSettings) => ({
  name,
  url: webUrl,
  hook_attributes: { url: `${webUrl}/api/v1/hooks/github-app`, active: true },
  redirect_url: redirectUrl,
  callback_urls: [`${webUrl}/github`],
  request_oauth_on_install: true,
  public: isPublic,
  default_permissions: {
    actions: "read",
    checks: "write",
    contents: "write",
    issues: "write",
    members: "read",
    metadata: "read",
    pull_requests: "write",
    statuses: "write",
  },
  default_events: [
    "issue_comment",
    "issues",
    "pull_request",
    "pull_request_review",
    "pull_request_review_comment",
    "push",
    "workflow_run",
  ],
});

/** A page that sends the manifest to GitHub, which accepts it only as a form of the owner's browser. */
export function renderForm(action: string, manifest: object): string {
  const toAttribute = (text: string): string =>
    text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  return `<!doctype html><meta charset="utf-8"><title>Create the GitHub App</title>
<form action="${toAttribute(action)}" method="post"><input type="hidden" name="manifest" value="${toAttribute(JSON.stringify(manifest))}">
<button>Create the GitHub App</button></form><script>document.forms[0].submit()</script>`;
}
