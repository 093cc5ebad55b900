import type { APIGatewayProxyEventV2 } from "aws-lambda";
import { getArtifact } from "#functions/artifacts/get-artifact.ts";
import { createAttachment } from "#functions/attachments/create-attachment.ts";
import { getConversation } from "#functions/conversations/get-conversation.ts";
import { redirectConversation } from "#functions/conversations/redirect-conversation.ts";
import { getErrorPage } from "#functions/docs/get-error-page.ts";
import { getOpenapi } from "#functions/docs/get-openapi.ts";
import { getReference } from "#functions/docs/get-reference.ts";
import { listErrors } from "#functions/docs/list-errors.ts";
import { createEnvironment } from "#functions/environments/create-environment.ts";
import { deleteEnvironment } from "#functions/environments/delete-environment.ts";
import { getEnvironment } from "#functions/environments/get-environment.ts";
import { listEnvironments } from "#functions/environments/list-environments.ts";
import { shareEnvironment } from "#functions/environments/share-environment.ts";
import { tryEnvironment } from "#functions/environments/try-environment.ts";
import { unshareEnvironment } from "#functions/environments/unshare-environment.ts";
import { updateEnvironment } from "#functions/environments/update-environment.ts";
import { appendMessages } from "#functions/harness/append-messages.ts";
import { commitSnapshot } from "#functions/harness/commit-snapshot.ts";
import { createExternalConversation } from "#functions/harness/create-external-conversation.ts";
import { finishTask } from "#functions/harness/finish-task.ts";
import { getRawTranscript } from "#functions/harness/get-raw-transcript.ts";
import { heartbeat } from "#functions/harness/heartbeat.ts";
import { notifyUser } from "#functions/harness/notify-user.ts";
import { recordLiveOutput } from "#functions/harness/record-live-output.ts";
import { reportArtifact } from "#functions/harness/report-artifact.ts";
import { reportShutdown } from "#functions/harness/report-shutdown.ts";
import { resolvePrompt } from "#functions/harness/resolve-prompt.ts";
import { uploadSnapshot } from "#functions/harness/upload-snapshot.ts";
import { uploadTranscript } from "#functions/harness/upload-transcript.ts";
import { createIdentity } from "#functions/identities/create-identity.ts";
import { createIdentityKey } from "#functions/identities/create-identity-key.ts";
import { createTrustRule } from "#functions/identities/create-trust-rule.ts";
import { deleteIdentity } from "#functions/identities/delete-identity.ts";
import { deleteIdentityKey } from "#functions/identities/delete-identity-key.ts";
import { deleteTrustRule } from "#functions/identities/delete-trust-rule.ts";
import { getIdentity } from "#functions/identities/get-identity.ts";
import { getTrustRule } from "#functions/identities/get-trust-rule.ts";
import { listIdentities } from "#functions/identities/list-identities.ts";
import { listIdentityKeys } from "#functions/identities/list-identity-keys.ts";
import { listTrustRules } from "#functions/identities/list-trust-rules.ts";
import { updateIdentity } from "#functions/identities/update-identity.ts";
import { updateTrustRule } from "#functions/identities/update-trust-rule.ts";
import { acceptInvitation } from "#functions/invitations/accept-invitation.ts";
import { createInvitation } from "#functions/invitations/create-invitation.ts";
import { deleteInvitation } from "#functions/invitations/delete-invitation.ts";
import { listInvitations } from "#functions/invitations/list-invitations.ts";
import { createKey } from "#functions/keys/create-key.ts";
import { deleteKey } from "#functions/keys/delete-key.ts";
import { listKeys } from "#functions/keys/list-keys.ts";
import { getMe } from "#functions/me/get-me.ts";
import { updateMe } from "#functions/me/update-me.ts";
import { listModels } from "#functions/models/list-models.ts";
import { getPublicRun } from "#functions/public/get-public-run.ts";
import { cancelRun } from "#functions/runs/cancel-run.ts";
import { cancelRuns } from "#functions/runs/cancel-runs.ts";
import { createClientEvent } from "#functions/runs/create-client-event.ts";
import { createRun } from "#functions/runs/create-run.ts";
import { getConversation as getConversationOfRuns } from "#functions/runs/get-conversation.ts";
import { getResponse } from "#functions/runs/get-response.ts";
import { getRun } from "#functions/runs/get-run.ts";
import { getTimeline } from "#functions/runs/get-timeline.ts";
import { getTranscript } from "#functions/runs/get-transcript.ts";
import { listEvents } from "#functions/runs/list-events.ts";
import { listHandoffAttachments } from "#functions/runs/list-handoff-attachments.ts";
import { listRuns } from "#functions/runs/list-runs.ts";
import { sendFollowup } from "#functions/runs/send-followup.ts";
import { createSchedule } from "#functions/schedules/create-schedule.ts";
import { deleteSchedule } from "#functions/schedules/delete-schedule.ts";
import { getSchedule } from "#functions/schedules/get-schedule.ts";
import { listSchedules } from "#functions/schedules/list-schedules.ts";
import { listTicks } from "#functions/schedules/list-ticks.ts";
import { pauseSchedule } from "#functions/schedules/pause-schedule.ts";
import { resumeSchedule } from "#functions/schedules/resume-schedule.ts";
import { runSchedule } from "#functions/schedules/run-schedule.ts";
import { updateSchedule } from "#functions/schedules/update-schedule.ts";
import { createSecret } from "#functions/secrets/create-secret.ts";
import { deleteSecret } from "#functions/secrets/delete-secret.ts";
import { getSecret } from "#functions/secrets/get-secret.ts";
import { listSecrets } from "#functions/secrets/list-secrets.ts";
import { redirectSession } from "#functions/sessions/redirect-session.ts";
import { listAgents } from "#functions/skills/list-agents.ts";
import { createTeam } from "#functions/teams/create-team.ts";
import { deleteTeam } from "#functions/teams/delete-team.ts";
import { getTeam } from "#functions/teams/get-team.ts";
import { listMembers } from "#functions/teams/list-members.ts";
import { listTeams } from "#functions/teams/list-teams.ts";
import { removeMember } from "#functions/teams/remove-member.ts";
import { updateMember } from "#functions/teams/update-member.ts";
import { updateTeam } from "#functions/teams/update-team.ts";
import { createToken } from "#functions/token/create-token.ts";
import { getUsage } from "#functions/usage/get-usage.ts";
import { createSession } from "#functions/web-sessions/create-session.ts";
import { createSignInLink } from "#functions/web-sessions/create-sign-in-link.ts";
import { deleteSession } from "#functions/web-sessions/delete-session.ts";
import { exchangeCode } from "#functions/web-sessions/exchange-code.ts";
import { extendSession } from "#functions/web-sessions/extend-session.ts";
import { getSession } from "#functions/web-sessions/get-session.ts";
import { getSignInMethods } from "#functions/web-sessions/get-sign-in-methods.ts";
import { listWebSessions } from "#functions/web-sessions/list-web-sessions.ts";
import { revokeSession } from "#functions/web-sessions/revoke-session.ts";
import { createWebhook } from "#functions/webhooks/create-webhook.ts";
import { deleteWebhook } from "#functions/webhooks/delete-webhook.ts";
import { getWebhook } from "#functions/webhooks/get-webhook.ts";
import { listDeliveries } from "#functions/webhooks/list-deliveries.ts";
import { listWebhooks } from "#functions/webhooks/list-webhooks.ts";
import { redeliverWebhook } from "#functions/webhooks/redeliver-webhook.ts";
import { rotateWebhookSecret } from "#functions/webhooks/rotate-webhook-secret.ts";
import { updateWebhook } from "#functions/webhooks/update-webhook.ts";
import { listWorkers } from "#functions/workers/list-workers.ts";
import type { HttpResponse } from "#shared/http/problem.ts";
import type { ServerPorts } from "../ports.ts";

/** An endpoint of the API. */
export interface Endpoint {
  handle(event: APIGatewayProxyEventV2, ports: ServerPorts): Promise<HttpResponse>;
}

/** The endpoints of all routes, by their file in functions/. A route whose endpoint is missing here fails the start. */
export const endpoints: Readonly<Record<string, Endpoint>> = {
  "artifacts/get-artifact": getArtifact,
  "attachments/create-attachment": createAttachment,
  "conversations/get-conversation": getConversation,
  "conversations/redirect-conversation": redirectConversation,
  "docs/get-error-page": getErrorPage,
  "docs/get-openapi": getOpenapi,
  "docs/get-reference": getReference,
  "docs/list-errors": listErrors,
  "environments/create-environment": createEnvironment,
  "environments/delete-environment": deleteEnvironment,
  "environments/get-environment": getEnvironment,
  "environments/list-environments": listEnvironments,
  "environments/share-environment": shareEnvironment,
  "environments/try-environment": tryEnvironment,
  "environments/unshare-environment": unshareEnvironment,
  "environments/update-environment": updateEnvironment,
  "harness/append-messages": appendMessages,
  "harness/commit-snapshot": commitSnapshot,
  "harness/create-external-conversation": createExternalConversation,
  "harness/finish-task": finishTask,
  "harness/get-raw-transcript": getRawTranscript,
  "harness/heartbeat": heartbeat,
  "harness/notify-user": notifyUser,
  "harness/record-live-output": recordLiveOutput,
  "harness/report-artifact": reportArtifact,
  "harness/report-shutdown": reportShutdown,
  "harness/resolve-prompt": resolvePrompt,
  "harness/upload-snapshot": uploadSnapshot,
  "harness/upload-transcript": uploadTranscript,
  "identities/create-identity": createIdentity,
  "identities/create-identity-key": createIdentityKey,
  "identities/delete-identity": deleteIdentity,
  "identities/delete-identity-key": deleteIdentityKey,
  "identities/get-identity": getIdentity,
  "identities/list-identities": listIdentities,
  "identities/list-identity-keys": listIdentityKeys,
  "identities/create-trust-rule": createTrustRule,
  "identities/list-trust-rules": listTrustRules,
  "identities/get-trust-rule": getTrustRule,
  "identities/update-trust-rule": updateTrustRule,
  "identities/delete-trust-rule": deleteTrustRule,
  "identities/update-identity": updateIdentity,
  "invitations/accept-invitation": acceptInvitation,
  "invitations/create-invitation": createInvitation,
  "invitations/delete-invitation": deleteInvitation,
  "invitations/list-invitations": listInvitations,
  "keys/create-key": createKey,
  "keys/delete-key": deleteKey,
  "keys/list-keys": listKeys,
  "me/get-me": getMe,
  "me/update-me": updateMe,
  "models/list-models": listModels,
  "public/get-public-run": getPublicRun,
  "runs/cancel-run": cancelRun,
  "runs/cancel-runs": cancelRuns,
  "runs/create-client-event": createClientEvent,
  "runs/create-run": createRun,
  "runs/get-conversation": getConversationOfRuns,
  "runs/get-response": getResponse,
  "runs/get-run": getRun,
  "runs/get-timeline": getTimeline,
  "runs/get-transcript": getTranscript,
  "runs/list-events": listEvents,
  "runs/list-handoff-attachments": listHandoffAttachments,
  "runs/list-runs": listRuns,
  "runs/send-followup": sendFollowup,
  "schedules/create-schedule": createSchedule,
  "schedules/delete-schedule": deleteSchedule,
  "schedules/get-schedule": getSchedule,
  "schedules/list-schedules": listSchedules,
  "schedules/list-ticks": listTicks,
  "schedules/pause-schedule": pauseSchedule,
  "schedules/resume-schedule": resumeSchedule,
  "schedules/run-schedule": runSchedule,
  "schedules/update-schedule": updateSchedule,
  "secrets/create-secret": createSecret,
  "secrets/delete-secret": deleteSecret,
  "secrets/get-secret": getSecret,
  "secrets/list-secrets": listSecrets,
  "sessions/redirect-session": redirectSession,
  "skills/list-agents": listAgents,
  "teams/create-team": createTeam,
  "teams/delete-team": deleteTeam,
  "teams/get-team": getTeam,
  "teams/list-members": listMembers,
  "teams/list-teams": listTeams,
  "teams/remove-member": removeMember,
  "teams/update-member": updateMember,
  "teams/update-team": updateTeam,
  "token/create-token": createToken,
  "usage/get-usage": getUsage,
  "web-sessions/create-session": createSession,
  "web-sessions/create-sign-in-link": createSignInLink,
  "web-sessions/delete-session": deleteSession,
  "web-sessions/exchange-code": exchangeCode,
  "web-sessions/get-sign-in-methods": getSignInMethods,
  "web-sessions/extend-session": extendSession,
  "web-sessions/get-session": getSession,
  "web-sessions/list-web-sessions": listWebSessions,
  "web-sessions/revoke-session": revokeSession,
  "webhooks/create-webhook": createWebhook,
  "webhooks/delete-webhook": deleteWebhook,
  "webhooks/get-webhook": getWebhook,
  "webhooks/list-deliveries": listDeliveries,
  "webhooks/list-webhooks": listWebhooks,
  "webhooks/redeliver-webhook": redeliverWebhook,
  "webhooks/rotate-webhook-secret": rotateWebhookSecret,
  "webhooks/update-webhook": updateWebhook,
  "workers/list-workers": listWorkers,
};
