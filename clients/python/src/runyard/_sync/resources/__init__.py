"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property

from .._artifacts import Artifacts
from .._attachments import Attachments
from .._runs import Runs
from .._transport import Transport
from .agents import Agents
from .conversations import Conversations
from .documentation import Documentation
from .environments import Environments
from .harness_support import HarnessSupport
from .identities import Identities
from .invitations import Invitations
from .keys import Keys
from .me import Myself
from .models import Models
from .schedules import Schedules
from .secrets import Secrets
from .sessions import Sessions
from .teams import Teams
from .workers import Workers


class Resources(Transport):
    """Groups of operations, as attributes of a client."""

    @cached_property
    def runs(self) -> Runs:
        """A run is one task for an agent, from its prompt to its end."""
        return Runs(self)

    @cached_property
    def conversations(self) -> Conversations:
        """What was said, over all runs that continue each other."""
        return Conversations(self)

    @cached_property
    def sessions(self) -> Sessions:
        """Links to shared sessions."""
        return Sessions(self)

    @cached_property
    def attachments(self) -> Attachments:
        """What a caller gives a run beside its prompt."""
        return Attachments(self)

    @cached_property
    def artifacts(self) -> Artifacts:
        """What a run leaves behind."""
        return Artifacts(self)

    @cached_property
    def agents(self) -> Agents:
        """Skills in repositories that runs may start from."""
        return Agents(self)

    @cached_property
    def workers(self) -> Workers:
        """Machines of the team that carry runs out."""
        return Workers(self)

    @cached_property
    def models(self) -> Models:
        """The models that runs may use."""
        return Models(self)

    @cached_property
    def schedules(self) -> Schedules:
        """Prompts that are run whenever their cron says."""
        return Schedules(self)

    @cached_property
    def identities(self) -> Identities:
        """Agents of a team as accounts of their own, with keys and defaults."""
        return Identities(self)

    @cached_property
    def environments(self) -> Environments:
        """Repositories and set-up that runs begin with."""
        return Environments(self)

    @cached_property
    def keys(self) -> Keys:
        """A person's own API keys."""
        return Keys(self)

    @cached_property
    def me(self) -> Myself:
        """The person whose key it is."""
        return Myself(self)

    @cached_property
    def teams(self) -> Teams:
        """Teams, their members and their settings."""
        return Teams(self)

    @cached_property
    def invitations(self) -> Invitations:
        """Links by which people join a team."""
        return Invitations(self)

    @cached_property
    def secrets(self) -> Secrets:
        """Values that configurations refer to by name, and that are never shown."""
        return Secrets(self)

    @cached_property
    def harness_support(self) -> HarnessSupport:
        """What the program in a sandbox calls, with its run's own key."""
        return HarnessSupport(self)

    @cached_property
    def documentation(self) -> Documentation:
        """This document, its pages, and a page for each error."""
        return Documentation(self)
