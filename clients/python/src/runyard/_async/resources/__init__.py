"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property

from .._artifacts import AsyncArtifacts
from .._attachments import AsyncAttachments
from .._runs import AsyncRuns
from .._transport import AsyncTransport
from .agents import AsyncAgents
from .conversations import AsyncConversations
from .documentation import AsyncDocumentation
from .environments import AsyncEnvironments
from .harness_support import AsyncHarnessSupport
from .identities import AsyncIdentities
from .invitations import AsyncInvitations
from .keys import AsyncKeys
from .me import AsyncMyself
from .models import AsyncModels
from .schedules import AsyncSchedules
from .secrets import AsyncSecrets
from .sessions import AsyncSessions
from .teams import AsyncTeams
from .workers import AsyncWorkers


class AsyncResources(AsyncTransport):
    """Groups of operations, as attributes of a client."""

    @cached_property
    def runs(self) -> AsyncRuns:
        return AsyncRuns(self)

    @cached_property
    def conversations(self) -> AsyncConversations:
        return AsyncConversations(self)

    @cached_property
    def sessions(self) -> AsyncSessions:
        return AsyncSessions(self)

    @cached_property
    def attachments(self) -> AsyncAttachments:
        return AsyncAttachments(self)

    @cached_property
    def artifacts(self) -> AsyncArtifacts:
        return AsyncArtifacts(self)

    @cached_property
    def agents(self) -> AsyncAgents:
        return AsyncAgents(self)

    @cached_property
    def workers(self) -> AsyncWorkers:
        return AsyncWorkers(self)

    @cached_property
    def models(self) -> AsyncModels:
        return AsyncModels(self)

    @cached_property
    def schedules(self) -> AsyncSchedules:
        return AsyncSchedules(self)

    @cached_property
    def identities(self) -> AsyncIdentities:
        return AsyncIdentities(self)

    @cached_property
    def environments(self) -> AsyncEnvironments:
        return AsyncEnvironments(self)

    @cached_property
    def keys(self) -> AsyncKeys:
        return AsyncKeys(self)

    @cached_property
    def me(self) -> AsyncMyself:
        return AsyncMyself(self)

    @cached_property
    def teams(self) -> AsyncTeams:
        return AsyncTeams(self)

    @cached_property
    def invitations(self) -> AsyncInvitations:
        return AsyncInvitations(self)

    @cached_property
    def secrets(self) -> AsyncSecrets:
        return AsyncSecrets(self)

    @cached_property
    def harness_support(self) -> AsyncHarnessSupport:
        return AsyncHarnessSupport(self)

    @cached_property
    def documentation(self) -> AsyncDocumentation:
        return AsyncDocumentation(self)
