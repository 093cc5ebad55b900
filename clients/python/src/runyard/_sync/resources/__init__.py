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
        return Runs(self)

    @cached_property
    def conversations(self) -> Conversations:
        return Conversations(self)

    @cached_property
    def sessions(self) -> Sessions:
        return Sessions(self)

    @cached_property
    def attachments(self) -> Attachments:
        return Attachments(self)

    @cached_property
    def artifacts(self) -> Artifacts:
        return Artifacts(self)

    @cached_property
    def agents(self) -> Agents:
        return Agents(self)

    @cached_property
    def workers(self) -> Workers:
        return Workers(self)

    @cached_property
    def models(self) -> Models:
        return Models(self)

    @cached_property
    def schedules(self) -> Schedules:
        return Schedules(self)

    @cached_property
    def identities(self) -> Identities:
        return Identities(self)

    @cached_property
    def environments(self) -> Environments:
        return Environments(self)

    @cached_property
    def keys(self) -> Keys:
        return Keys(self)

    @cached_property
    def me(self) -> Myself:
        return Myself(self)

    @cached_property
    def teams(self) -> Teams:
        return Teams(self)

    @cached_property
    def invitations(self) -> Invitations:
        return Invitations(self)

    @cached_property
    def secrets(self) -> Secrets:
        return Secrets(self)

    @cached_property
    def harness_support(self) -> HarnessSupport:
        return HarnessSupport(self)

    @cached_property
    def documentation(self) -> Documentation:
        return Documentation(self)
