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
        """A run is one task for an agent, from its prompt to its end."""
        return AsyncRuns(self)

    @cached_property
    def conversations(self) -> AsyncConversations:
        """What was said, over all runs that continue each other."""
        return AsyncConversations(self)

    @cached_property
    def sessions(self) -> AsyncSessions:
        """Links to shared sessions."""
        return AsyncSessions(self)

    @cached_property
    def attachments(self) -> AsyncAttachments:
        """What a caller gives a run beside its prompt."""
        return AsyncAttachments(self)

    @cached_property
    def artifacts(self) -> AsyncArtifacts:
        """What a run leaves behind."""
        return AsyncArtifacts(self)

    @cached_property
    def agents(self) -> AsyncAgents:
        """Skills in repositories that runs may start from."""
        return AsyncAgents(self)

    @cached_property
    def workers(self) -> AsyncWorkers:
        """Machines of the team that carry runs out."""
        return AsyncWorkers(self)

    @cached_property
    def models(self) -> AsyncModels:
        """The models that runs may use."""
        return AsyncModels(self)

    @cached_property
    def schedules(self) -> AsyncSchedules:
        """Prompts that are run whenever their cron says."""
        return AsyncSchedules(self)

    @cached_property
    def identities(self) -> AsyncIdentities:
        """Agents of a team as accounts of their own, with keys and defaults."""
        return AsyncIdentities(self)

    @cached_property
    def environments(self) -> AsyncEnvironments:
        """Repositories and set-up that runs begin with."""
        return AsyncEnvironments(self)

    @cached_property
    def keys(self) -> AsyncKeys:
        """A person's own API keys."""
        return AsyncKeys(self)

    @cached_property
    def me(self) -> AsyncMyself:
        """The person whose key it is."""
        return AsyncMyself(self)

    @cached_property
    def teams(self) -> AsyncTeams:
        """Teams, their members and their settings."""
        return AsyncTeams(self)

    @cached_property
    def invitations(self) -> AsyncInvitations:
        """Links by which people join a team."""
        return AsyncInvitations(self)

    @cached_property
    def secrets(self) -> AsyncSecrets:
        """Values that configurations refer to by name, and that are never shown."""
        return AsyncSecrets(self)

    @cached_property
    def harness_support(self) -> AsyncHarnessSupport:
        """What the program in a sandbox calls, with its run's own key."""
        return AsyncHarnessSupport(self)

    @cached_property
    def documentation(self) -> AsyncDocumentation:
        """This document, its pages, and a page for each error."""
        return AsyncDocumentation(self)
