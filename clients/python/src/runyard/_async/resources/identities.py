"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Mapping, Optional, Sequence, Union

from typing_extensions import Literal, Unpack

from ... import _wire
from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...params import (
    CreateIdentityRequestApprovalParam,
    CreateIdentityRequestHarnessAuthSecretsParam,
    CreateIdentityRequestHarnessParam,
    CreateIdentityRequestMcpServerParam,
    CreateIdentityRequestSecretParam,
    MCPServerConfigParam,
    UpdateIdentityRequestApprovalParam,
    UpdateIdentityRequestHarnessAuthSecretsParam,
    UpdateIdentityRequestHarnessParam,
    UpdateIdentityRequestMcpServerParam,
    UpdateIdentityRequestSecretParam,
    UpdateIdentityRequestSecretsAppendParam,
)
from ...types import (
    HarnessName,
    IdentityItem,
    ListIdentitiesResponse,
)
from .._io import AsyncPaginator
from .._resource import AsyncResource, to_raw
from .identity_keys import AsyncIdentityKeys
from .identity_trust_rules import AsyncIdentityTrustRules


class AsyncIdentities(AsyncResource):
    @cached_property
    def with_raw_response(self) -> AsyncIdentitiesWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return AsyncIdentitiesWithRawResponse(AsyncIdentities(self._client, _raw=True))

    @cached_property
    def keys(self) -> AsyncIdentityKeys:
        return AsyncIdentityKeys(self._client)

    @cached_property
    def trust_rules(self) -> AsyncIdentityTrustRules:
        return AsyncIdentityTrustRules(self._client)

    async def create(
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
        timeout_minutes: Union[Optional[int], NotGiven] = NOT_GIVEN,
        max_steps: Union[Optional[int], NotGiven] = NOT_GIVEN,
        max_total_tokens: Union[Optional[int], NotGiven] = NOT_GIVEN,
        fallback_model_ids: Union[Optional[Sequence[str]], NotGiven] = NOT_GIVEN,
        reasoning_level: Union[
            Optional[Literal["none", "minimal", "low", "medium", "high", "max", ""]], NotGiven
        ] = NOT_GIVEN,
        output_schema: Union[Optional[Mapping[str, Any]], NotGiven] = NOT_GIVEN,
        approvals: Union[Optional[Sequence[CreateIdentityRequestApprovalParam]], NotGiven] = NOT_GIVEN,
        commit_author: Union[Optional[str], NotGiven] = NOT_GIVEN,
        base_harness: Union[Optional[Union[HarnessName, Literal[""]]], NotGiven] = NOT_GIVEN,
        harness_auth_secrets: Union[Optional[CreateIdentityRequestHarnessAuthSecretsParam], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> IdentityItem:
        """Creates an identity, a service account for an agent.

        The optional members are defaults for the runs of the identity. Names are unique within the team; a name
        in use returns 409. A team that has reached its `identity_limit` receives 403 `feature_not_available`.
        Requires a personal key.

        `POST /agent/identities`

        Args:
            name: The identity's name, unique within the team.
            description: A description for people.
            prompt: Additional instructions for the runs of the identity.
            base_model: The model of runs that set none.
            environment_id: The environment of runs that set none.
            skills: The skills of runs that set none, at most 20.
            mcp_servers: The MCP servers of runs that set none: a map from name to server, at most 50.
            harness: The harness of runs that set none. Responses omit it for the default harness.
            worker_host: The self-hosted worker of runs that set none. Defaults to `hosted`, a sandbox of the service.
            secrets: The secrets available to runs, at most 50.
            on_behalf_of_enabled: Whether keys of the identity may create runs on behalf of members. Defaults to false.
            credential_strategy: Whose credentials its runs use: their creator's or their executor's. Has no effect in this release.
            timeout_minutes: The `timeout_minutes` of runs that set none, up to 10,080. 0 clears it.
            max_steps: The `max_steps` of runs that set none, up to 10,000. 0 clears it.
            max_total_tokens: The `max_total_tokens` of runs that set none, up to 1,000,000,000. 0 clears it.
            fallback_model_ids: The `fallback_model_ids` of runs that set none. `[]` clears them.
            reasoning_level: The `reasoning_level` of runs that set none. `""` clears it.
            output_schema: The `output_schema` of runs that set none. `{}` clears it.
            approvals: The `approvals` of runs that set none. `[]` clears them.
            commit_author: The `commit_author` of runs that set none. `""` clears it.
            base_harness: The older name of `harness.type`. `""` clears the harness.
            harness_auth_secrets: The secrets with the API keys for its runs' calls to Anthropic's and OpenAI's models.
        """
        return await self._call(
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
                "timeout_minutes": timeout_minutes,
                "max_steps": max_steps,
                "max_total_tokens": max_total_tokens,
                "fallback_model_ids": fallback_model_ids,
                "reasoning_level": reasoning_level,
                "output_schema": output_schema,
                "approvals": approvals,
                "commit_author": commit_author,
                "base_harness": base_harness,
                "harness_auth_secrets": harness_auth_secrets,
            },
            options=options,
        )

    def list(
        self,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> AsyncPaginator[IdentityItem]:
        """Lists the identities of the caller's teams, oldest first.

        `GET /agent/identities`

        Args:
            limit: The maximum number of items. By default, up to 500 items or 4 MB.
            cursor: The `page_info.next_cursor` of the previous page.
        """
        return self._list(
            "/agent/identities",
            cast_to=ListIdentitiesResponse,
            items=lambda response: response.agents,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    async def retrieve(self, identity_uid: str, **options: Unpack[RequestOptions]) -> IdentityItem:
        """Returns an identity with its defaults for runs.

        `GET /agent/identities/{identityUid}`

        Args:
            identity_uid: The identity's id.
        """
        return await self._call(
            "GET",
            _wire.path("/agent/identities/{identity_uid}", identity_uid=identity_uid),
            cast_to=IdentityItem,
            options=options,
        )

    async def update(
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
        timeout_minutes: Union[Optional[int], NotGiven] = NOT_GIVEN,
        max_steps: Union[Optional[int], NotGiven] = NOT_GIVEN,
        max_total_tokens: Union[Optional[int], NotGiven] = NOT_GIVEN,
        fallback_model_ids: Union[Optional[Sequence[str]], NotGiven] = NOT_GIVEN,
        reasoning_level: Union[
            Optional[Literal["none", "minimal", "low", "medium", "high", "max", ""]], NotGiven
        ] = NOT_GIVEN,
        output_schema: Union[Optional[Mapping[str, Any]], NotGiven] = NOT_GIVEN,
        approvals: Union[Optional[Sequence[UpdateIdentityRequestApprovalParam]], NotGiven] = NOT_GIVEN,
        commit_author: Union[Optional[str], NotGiven] = NOT_GIVEN,
        base_harness: Union[Optional[Union[HarnessName, Literal[""]]], NotGiven] = NOT_GIVEN,
        harness_auth_secrets: Union[Optional[UpdateIdentityRequestHarnessAuthSecretsParam], NotGiven] = NOT_GIVEN,
        secrets_append: Union[Optional[Sequence[UpdateIdentityRequestSecretsAppendParam]], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> IdentityItem:
        """Updates an identity.

        Members that are absent or null keep their values; an empty value (`""`, `[]` or `{}`) clears one. An
        identity that is not `available` returns 403. Requires a personal key.

        `PUT /agent/identities/{identityUid}`

        Args:
            identity_uid: The identity's id.
            name: The identity's name, unique within the team.
            description: A description for people.
            prompt: Additional instructions for the runs of the identity.
            base_model: The model of runs that set none.
            environment_id: The environment of runs that set none.
            skills: The skills of runs that set none, at most 20.
            mcp_servers: The MCP servers of runs that set none: a map from name to server, at most 50.
            harness: The harness of runs that set none. Responses omit it for the default harness.
            worker_host: The self-hosted worker of runs that set none. Defaults to `hosted`, a sandbox of the service.
            secrets: The secrets available to runs, at most 50.
            on_behalf_of_enabled: Whether keys of the identity may create runs on behalf of members. Defaults to false.
            credential_strategy: Whose credentials its runs use: their creator's or their executor's. Has no effect in this release.
            timeout_minutes: The `timeout_minutes` of runs that set none, up to 10,080. 0 clears it.
            max_steps: The `max_steps` of runs that set none, up to 10,000. 0 clears it.
            max_total_tokens: The `max_total_tokens` of runs that set none, up to 1,000,000,000. 0 clears it.
            fallback_model_ids: The `fallback_model_ids` of runs that set none. `[]` clears them.
            reasoning_level: The `reasoning_level` of runs that set none. `""` clears it.
            output_schema: The `output_schema` of runs that set none. `{}` clears it.
            approvals: The `approvals` of runs that set none. `[]` clears them.
            commit_author: The `commit_author` of runs that set none. `""` clears it.
            base_harness: The older name of `harness.type`. `""` clears the harness.
            harness_auth_secrets: The secrets with the API keys for its runs' calls to Anthropic's and OpenAI's models.
            secrets_append: Secrets to add to those of the identity. Must be the only member of its request.
        """
        return await self._call(
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
                "timeout_minutes": timeout_minutes,
                "max_steps": max_steps,
                "max_total_tokens": max_total_tokens,
                "fallback_model_ids": fallback_model_ids,
                "reasoning_level": reasoning_level,
                "output_schema": output_schema,
                "approvals": approvals,
                "commit_author": commit_author,
                "base_harness": base_harness,
                "harness_auth_secrets": harness_auth_secrets,
                "secrets_append": secrets_append,
            },
            options=options,
        )

    async def delete(self, identity_uid: str, **options: Unpack[RequestOptions]) -> None:
        """Deletes an identity and revokes all its keys.

        Its runs that have not started fail with `not_authorized`, runs in progress finish, and its schedules and
        triggers are paused. The team's default identity cannot be deleted (400). Requires a personal key.

        `DELETE /agent/identities/{identityUid}`

        Args:
            identity_uid: The identity's id.
        """
        return await self._call(
            "DELETE",
            _wire.path("/agent/identities/{identity_uid}", identity_uid=identity_uid),
            cast_to=type(None),
            options=options,
        )


class AsyncIdentitiesWithRawResponse:
    def __init__(self, raw: AsyncIdentities) -> None:
        self.create = to_raw(raw.create)
        self.list = to_raw(raw.list)
        self.retrieve = to_raw(raw.retrieve)
        self.update = to_raw(raw.update)
        self.delete = to_raw(raw.delete)
