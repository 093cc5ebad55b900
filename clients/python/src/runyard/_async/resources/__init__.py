"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property

from .._artifacts import AsyncArtifacts
from .._attachments import AsyncAttachments
from .._runs import AsyncRuns
from .._transport import AsyncTransport
from .agents import AsyncAgents
from .audit import AsyncAudit
from .conversations import AsyncConversations
from .documentation import AsyncDocumentation
from .environments import AsyncEnvironments
from .github import AsyncGithub
from .harness_support import AsyncHarnessSupport
from .identities import AsyncIdentities
from .identity_issuer import AsyncIdentityIssuer
from .invitations import AsyncInvitations
from .keys import AsyncKeys
from .mcp import AsyncMcp
from .me import AsyncMyself
from .models import AsyncModels
from .schedules import AsyncSchedules
from .secrets import AsyncSecrets
from .sessions import AsyncSessions
from .teams import AsyncTeams
from .token import AsyncToken
from .triggers import AsyncTriggers
from .usage import AsyncUsage
from .web_sessions import AsyncWebSessions
from .webhooks import AsyncWebhooks
from .workers import AsyncWorkers


class AsyncResources(AsyncTransport):
    """Groups of operations, as attributes of a client."""

    @cached_property
    def runs(self) -> AsyncRuns:
        """Create, follow, steer and cancel runs. A run is one task that an agent executes."""
        return AsyncRuns(self)

    @cached_property
    def audit(self) -> AsyncAudit:
        """Read who changed what in a team."""
        return AsyncAudit(self)

    @cached_property
    def usage(self) -> AsyncUsage:
        """Read what runs have used."""
        return AsyncUsage(self)

    @cached_property
    def conversations(self) -> AsyncConversations:
        """Read conversations, which span all runs that continue each other."""
        return AsyncConversations(self)

    @cached_property
    def sessions(self) -> AsyncSessions:
        """Resolve links to shared sessions."""
        return AsyncSessions(self)

    @cached_property
    def attachments(self) -> AsyncAttachments:
        """Upload files for new runs."""
        return AsyncAttachments(self)

    @cached_property
    def artifacts(self) -> AsyncArtifacts:
        """Read the results of runs: plans, files, screenshots and links."""
        return AsyncArtifacts(self)

    @cached_property
    def agents(self) -> AsyncAgents:
        """List the skills in repositories."""
        return AsyncAgents(self)

    @cached_property
    def workers(self) -> AsyncWorkers:
        """List the self-hosted workers of a team."""
        return AsyncWorkers(self)

    @cached_property
    def models(self) -> AsyncModels:
        """List the available models."""
        return AsyncModels(self)

    @cached_property
    def schedules(self) -> AsyncSchedules:
        """Create runs on a cron schedule."""
        return AsyncSchedules(self)

    @cached_property
    def github(self) -> AsyncGithub:
        """Claim installations of the deployment's GitHub App."""
        return AsyncGithub(self)

    @cached_property
    def triggers(self) -> AsyncTriggers:
        """Start runs by the events of other systems."""
        return AsyncTriggers(self)

    @cached_property
    def identities(self) -> AsyncIdentities:
        """Manage the service accounts of a team's agents, with their keys and defaults."""
        return AsyncIdentities(self)

    @cached_property
    def token(self) -> AsyncToken:
        """Exchange tokens of other issuers for API keys."""
        return AsyncToken(self)

    @cached_property
    def environments(self) -> AsyncEnvironments:
        """Manage the repositories, setup commands and secrets of runs."""
        return AsyncEnvironments(self)

    @cached_property
    def keys(self) -> AsyncKeys:
        """Manage personal API keys."""
        return AsyncKeys(self)

    @cached_property
    def web_sessions(self) -> AsyncWebSessions:
        """Sign in to the web app, and manage where one is signed in."""
        return AsyncWebSessions(self)

    @cached_property
    def me(self) -> AsyncMyself:
        """Read and change the caller's profile."""
        return AsyncMyself(self)

    @cached_property
    def teams(self) -> AsyncTeams:
        """Manage teams, their members and settings."""
        return AsyncTeams(self)

    @cached_property
    def invitations(self) -> AsyncInvitations:
        """Invite people to a team."""
        return AsyncInvitations(self)

    @cached_property
    def secrets(self) -> AsyncSecrets:
        """Manage the secrets of a team. Values are never returned."""
        return AsyncSecrets(self)

    @cached_property
    def webhooks(self) -> AsyncWebhooks:
        """Receive the events of runs."""
        return AsyncWebhooks(self)

    @cached_property
    def harness_support(self) -> AsyncHarnessSupport:
        """Operations for the harness in a sandbox, called with the run's own key."""
        return AsyncHarnessSupport(self)

    @cached_property
    def identity_issuer(self) -> AsyncIdentityIssuer:
        """Verify the identity tokens of runs."""
        return AsyncIdentityIssuer(self)

    @cached_property
    def mcp(self) -> AsyncMcp:
        """Start and steer runs from agents and editors."""
        return AsyncMcp(self)

    @cached_property
    def documentation(self) -> AsyncDocumentation:
        """Read this document, the API reference and the error pages."""
        return AsyncDocumentation(self)
