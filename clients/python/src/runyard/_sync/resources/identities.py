"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property
from typing import Mapping, Optional, Sequence, Union

from typing_extensions import Literal, Unpack

from ... import _wire
from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...params import (
    CreateIdentityRequestHarnessParam,
    CreateIdentityRequestMcpServerParam,
    CreateIdentityRequestSecretParam,
    MCPServerConfigParam,
    UpdateIdentityRequestHarnessParam,
    UpdateIdentityRequestMcpServerParam,
    UpdateIdentityRequestSecretParam,
)
from ...types import (
    IdentityItem,
    ListIdentitiesResponse,
)
from .._io import Page
from .._resource import Resource, to_raw
from .identity_keys import IdentityKeys


class Identities(Resource):
    @cached_property
    def with_raw_response(self) -> IdentitiesWithRawResponse:
        """The same methods, answering status, headers and value together."""
        return IdentitiesWithRawResponse(Identities(self._client, _raw=True))

    @cached_property
    def keys(self) -> IdentityKeys:
        return IdentityKeys(self._client)

    def create(
        self,
        *,
        name: str,
        description: Union[Optional[str], NotGiven] = NOT_GIVEN,
        prompt: Union[Optional[str], NotGiven] = NOT_GIVEN,
        base_model: Union[Optional[str], NotGiven] = NOT_GIVEN,
        environment_id: Union[Optional[str], NotGiven] = NOT_GIVEN,
        skills: Union[Optional[Sequence[str]], NotGiven] = NOT_GIVEN,
        mcp_servers: Union[
            Optional[Union[Sequence[CreateIdentityRequestMcpServerParam], Mapping[str, MCPServerConfigParam]]], NotGiven
        ] = NOT_GIVEN,
        harness: Union[Optional[CreateIdentityRequestHarnessParam], NotGiven] = NOT_GIVEN,
        worker_host: Union[Optional[str], NotGiven] = NOT_GIVEN,
        secrets: Union[Optional[Sequence[CreateIdentityRequestSecretParam]], NotGiven] = NOT_GIVEN,
        on_behalf_of_enabled: Union[Optional[bool], NotGiven] = NOT_GIVEN,
        credential_strategy: Union[Optional[Literal["CREATOR", "EXECUTOR", ""]], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> IdentityItem:
        """Creates an agent identity with defaults for its runs.

        `POST /agent/identities`

        Args:
            name: What the identity is called; unique in its team.
            description: What it is for.
            prompt: The task, in words.
            base_model: The model of its runs, where they name none.
            environment_id: The environment whose repositories and set-up the run begins with.
            skills: Several skills; not together with `skill_spec`.
            mcp_servers: Tools for the agent: servers of the Model Context Protocol, by name.
            harness: The program that runs the agent, where it is not the service's own: claude, codex or gemini.
            worker_host: The self-hosted worker that is to carry the run out; absent, or `hosted`: a sandbox of the service.
            secrets: Secrets that its runs may use, by name.
            on_behalf_of_enabled: Whether its keys may start runs on behalf of members.
            credential_strategy: Whose credentials the run uses.
        """
        return self._call(
            "POST",
            "/agent/identities",
            cast_to=IdentityItem,
            body={
                "name": name,
                "description": description,
                "prompt": prompt,
                "base_model": base_model,
                "environment_id": environment_id,
                "skills": skills,
                "mcp_servers": mcp_servers,
                "harness": harness,
                "worker_host": worker_host,
                "secrets": secrets,
                "on_behalf_of_enabled": on_behalf_of_enabled,
                "credential_strategy": credential_strategy,
            },
            options=options,
        )

    def list(
        self,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Page[IdentityItem]:
        """Lists the identities of the caller's teams, oldest first.

        `GET /agent/identities`

        Args:
            limit: How many at most. By default all, up to 500 or 4 MB.
            cursor: `page_info.next_cursor` of the page before.
        """
        return self._list(
            "/agent/identities",
            cast_to=ListIdentitiesResponse,
            items=lambda answer: answer.agents,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    def retrieve(self, identity_uid: str, **options: Unpack[RequestOptions]) -> IdentityItem:
        """Returns an identity.

        `GET /agent/identities/{identityUid}`

        Args:
            identity_uid: The identity's uid.
        """
        return self._call(
            "GET",
            _wire.path("/agent/identities/{identity_uid}", identity_uid=identity_uid),
            cast_to=IdentityItem,
            options=options,
        )

    def update(
        self,
        identity_uid: str,
        *,
        name: Union[Optional[str], NotGiven] = NOT_GIVEN,
        description: Union[Optional[str], NotGiven] = NOT_GIVEN,
        prompt: Union[Optional[str], NotGiven] = NOT_GIVEN,
        base_model: Union[Optional[str], NotGiven] = NOT_GIVEN,
        environment_id: Union[Optional[str], NotGiven] = NOT_GIVEN,
        skills: Union[Optional[Sequence[str]], NotGiven] = NOT_GIVEN,
        mcp_servers: Union[
            Optional[Union[Sequence[UpdateIdentityRequestMcpServerParam], Mapping[str, MCPServerConfigParam]]], NotGiven
        ] = NOT_GIVEN,
        harness: Union[Optional[UpdateIdentityRequestHarnessParam], NotGiven] = NOT_GIVEN,
        worker_host: Union[Optional[str], NotGiven] = NOT_GIVEN,
        secrets: Union[Optional[Sequence[UpdateIdentityRequestSecretParam]], NotGiven] = NOT_GIVEN,
        on_behalf_of_enabled: Union[Optional[bool], NotGiven] = NOT_GIVEN,
        credential_strategy: Union[Optional[Literal["CREATOR", "EXECUTOR", ""]], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> IdentityItem:
        """Changes an identity. Members that the body leaves out stay as they are.

        `PUT /agent/identities/{identityUid}`

        Args:
            identity_uid: The identity's uid.
            name: What the identity is called; unique in its team.
            description: What it is for.
            prompt: The task, in words.
            base_model: The model of its runs, where they name none.
            environment_id: The environment whose repositories and set-up the run begins with.
            skills: Several skills; not together with `skill_spec`.
            mcp_servers: Tools for the agent: servers of the Model Context Protocol, by name.
            harness: The program that runs the agent, where it is not the service's own: claude, codex or gemini.
            worker_host: The self-hosted worker that is to carry the run out; absent, or `hosted`: a sandbox of the service.
            secrets: Secrets that its runs may use, by name.
            on_behalf_of_enabled: Whether its keys may start runs on behalf of members.
            credential_strategy: Whose credentials the run uses.
        """
        return self._call(
            "PUT",
            _wire.path("/agent/identities/{identity_uid}", identity_uid=identity_uid),
            cast_to=IdentityItem,
            body={
                "name": name,
                "description": description,
                "prompt": prompt,
                "base_model": base_model,
                "environment_id": environment_id,
                "skills": skills,
                "mcp_servers": mcp_servers,
                "harness": harness,
                "worker_host": worker_host,
                "secrets": secrets,
                "on_behalf_of_enabled": on_behalf_of_enabled,
                "credential_strategy": credential_strategy,
            },
            options=options,
        )

    def delete(self, identity_uid: str, **options: Unpack[RequestOptions]) -> None:
        """Deletes an identity and its keys. Its runs that have not started fail, and its schedules are paused.

        `DELETE /agent/identities/{identityUid}`

        Args:
            identity_uid: The identity's uid.
        """
        return self._call(
            "DELETE",
            _wire.path("/agent/identities/{identity_uid}", identity_uid=identity_uid),
            cast_to=type(None),
            options=options,
        )


class IdentitiesWithRawResponse:
    def __init__(self, raw: Identities) -> None:
        self.create = to_raw(raw.create)
        self.list = to_raw(raw.list)
        self.retrieve = to_raw(raw.retrieve)
        self.update = to_raw(raw.update)
        self.delete = to_raw(raw.delete)
