"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property

from .._artifacts import Artifacts
from .._attachments import Attachments
from .._runs import Runs
from .._transport import Transport
from .agents import Agents
from .audit import Audit
from .conversations import Conversations
from .documentation import Documentation
from .environments import Environments
from .github import Github
from .harness_support import HarnessSupport
from .identities import Identities
from .identity_issuer import IdentityIssuer
from .invitations import Invitations
from .keys import Keys
from .mcp import Mcp
from .me import Myself
from .models import Models
from .schedules import Schedules
from .secrets import Secrets
from .sessions import Sessions
from .teams import Teams
from .token import Token
from .triggers import Triggers
from .usage import Usage
from .web_sessions import WebSessions
from .webhooks import Webhooks
from .workers import Workers


class Resources(Transport):
    """Groups of operations, as attributes of a client."""

    @cached_property
    def runs(self) -> Runs:
        """Create, follow, steer and cancel runs. A run is one task that an agent executes."""
        return Runs(self)

    @cached_property
    def audit(self) -> Audit:
        """Read who changed what in a team."""
        return Audit(self)

    @cached_property
    def usage(self) -> Usage:
        """Read what runs have used."""
        return Usage(self)

    @cached_property
    def conversations(self) -> Conversations:
        """Read conversations, which span all runs that continue each other."""
        return Conversations(self)

    @cached_property
    def sessions(self) -> Sessions:
        """Resolve links to shared sessions."""
        return Sessions(self)

    @cached_property
    def attachments(self) -> Attachments:
        """Upload files for new runs."""
        return Attachments(self)

    @cached_property
    def artifacts(self) -> Artifacts:
        """Read the results of runs: plans, files, screenshots and links."""
        return Artifacts(self)

    @cached_property
    def agents(self) -> Agents:
        """List the skills in repositories."""
        return Agents(self)

    @cached_property
    def workers(self) -> Workers:
        """List the self-hosted workers of a team."""
        return Workers(self)

    @cached_property
    def models(self) -> Models:
        """List the available models."""
        return Models(self)

    @cached_property
    def schedules(self) -> Schedules:
        """Create runs on a cron schedule."""
        return Schedules(self)

    @cached_property
    def github(self) -> Github:
        """Claim installations of the deployment's GitHub App."""
        return Github(self)

    @cached_property
    def triggers(self) -> Triggers:
        """Start runs by the events of other systems."""
        return Triggers(self)

    @cached_property
    def identities(self) -> Identities:
        """Manage the service accounts of a team's agents, with their keys and defaults."""
        return Identities(self)

    @cached_property
    def token(self) -> Token:
        """Exchange tokens of other issuers for API keys."""
        return Token(self)

    @cached_property
    def environments(self) -> Environments:
        """Manage the repositories, setup commands and secrets of runs."""
        return Environments(self)

    @cached_property
    def keys(self) -> Keys:
        """Manage personal API keys."""
        return Keys(self)

    @cached_property
    def web_sessions(self) -> WebSessions:
        """Sign in to the web app, and manage where one is signed in."""
        return WebSessions(self)

    @cached_property
    def me(self) -> Myself:
        """Read and change the caller's profile."""
        return Myself(self)

    @cached_property
    def teams(self) -> Teams:
        """Manage teams, their members and settings."""
        return Teams(self)

    @cached_property
    def invitations(self) -> Invitations:
        """Invite people to a team."""
        return Invitations(self)

    @cached_property
    def secrets(self) -> Secrets:
        """Manage the secrets of a team. Values are never returned."""
        return Secrets(self)

    @cached_property
    def webhooks(self) -> Webhooks:
        """Receive the events of runs."""
        return Webhooks(self)

    @cached_property
    def harness_support(self) -> HarnessSupport:
        """Operations for the harness in a sandbox, called with the run's own key."""
        return HarnessSupport(self)

    @cached_property
    def identity_issuer(self) -> IdentityIssuer:
        """Verify the identity tokens of runs."""
        return IdentityIssuer(self)

    @cached_property
    def mcp(self) -> Mcp:
        """Start and steer runs from agents and editors."""
        return Mcp(self)

    @cached_property
    def documentation(self) -> Documentation:
        """Read this document, the API reference and the error pages."""
        return Documentation(self)
