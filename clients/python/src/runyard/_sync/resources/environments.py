"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Mapping, Optional, Sequence, Union

from typing_extensions import Literal, Unpack

from ... import _wire
from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...params import (
    CreateEnvironmentRequestApprovalParam,
    CreateEnvironmentRequestGithubRepoParam,
    CreateEnvironmentRequestSecretParam,
    NetworkParam,
    ProvidersParam,
    RepositoryParam,
    UpdateEnvironmentRequestApprovalParam,
    UpdateEnvironmentRequestGithubRepoParam,
    UpdateEnvironmentRequestSecretParam,
)
from ...types import (
    EnvironmentItem,
    ListEnvironmentsResponse,
    RunAgentResponse,
    ShareResponse,
)
from .._io import Page
from .._resource import Resource, to_raw


class Environments(Resource):
    @cached_property
    def with_raw_response(self) -> EnvironmentsWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return EnvironmentsWithRawResponse(Environments(self._client, _raw=True))

    def create(
        self,
        *,
        name: str,
        team: Union[bool, NotGiven] = NOT_GIVEN,
        description: Union[Optional[str], NotGiven] = NOT_GIVEN,
        docker_image: Union[Optional[str], NotGiven] = NOT_GIVEN,
        github_repos: Union[Optional[Sequence[CreateEnvironmentRequestGithubRepoParam]], NotGiven] = NOT_GIVEN,
        repositories: Union[Optional[Sequence[RepositoryParam]], NotGiven] = NOT_GIVEN,
        setup_commands: Union[Optional[Sequence[str]], NotGiven] = NOT_GIVEN,
        variables: Union[Optional[Mapping[str, str]], NotGiven] = NOT_GIVEN,
        providers: Union[Optional[ProvidersParam], NotGiven] = NOT_GIVEN,
        network: Union[Optional[NetworkParam], NotGiven] = NOT_GIVEN,
        worker_host: Union[Optional[str], NotGiven] = NOT_GIVEN,
        timeout_minutes: Union[Optional[int], NotGiven] = NOT_GIVEN,
        max_steps: Union[Optional[int], NotGiven] = NOT_GIVEN,
        max_total_tokens: Union[Optional[int], NotGiven] = NOT_GIVEN,
        fallback_model_ids: Union[Optional[Sequence[str]], NotGiven] = NOT_GIVEN,
        reasoning_level: Union[
            Optional[Literal["none", "minimal", "low", "medium", "high", "max", ""]], NotGiven
        ] = NOT_GIVEN,
        output_schema: Union[Optional[Mapping[str, Any]], NotGiven] = NOT_GIVEN,
        approvals: Union[Optional[Sequence[CreateEnvironmentRequestApprovalParam]], NotGiven] = NOT_GIVEN,
        commit_author: Union[Optional[str], NotGiven] = NOT_GIVEN,
        secrets: Union[Optional[Sequence[CreateEnvironmentRequestSecretParam]], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> EnvironmentItem:
        """Creates an environment of repositories, setup commands and secrets.

        The caller's team owns it unless `team` is false. Names are unique within the team or the person; a name
        in use returns 409. A team or a person can have at most 200 environments, each up to 64 KiB as JSON.

        `POST /agent/environments`

        Args:
            name: The environment's name, unique within the team or the person.
            team: Whether the team owns the environment. Defaults to true if the caller has a team; agent keys cannot set it to false.
            description: A description for people.
            docker_image: The container image in which the runs' commands execute. If the deployment does not support images, creating a run returns 422.
            github_repos: The GitHub repositories to clone, at most 10.
            repositories: The Git repositories to clone before the agent starts, at most 10.
            setup_commands: The commands to run before the agent starts, in order, at most 20.
            variables: The plain environment variables of setup commands and commands, at most 100. Everyone who can read the environment can read them.
            providers: Cloud providers that commands sign in to with the identity of their run, without a secret. `{}` removes them.
            network: What commands, clones and MCP servers may call. Everything by default.
            worker_host: The self-hosted worker of runs that set none.
            timeout_minutes: The `timeout_minutes` of runs that set none, up to 10,080. 0 clears it.
            max_steps: The `max_steps` of runs that set none, up to 10,000. 0 clears it.
            max_total_tokens: The `max_total_tokens` of runs that set none, up to 1,000,000,000. 0 clears it.
            fallback_model_ids: The `fallback_model_ids` of runs that set none. `[]` clears them.
            reasoning_level: The `reasoning_level` of runs that set none. `""` clears it.
            output_schema: The `output_schema` of runs that set none. `{}` clears it.
            approvals: The `approvals` of runs that set none. `[]` clears them.
            commit_author: The `commit_author` of runs that set none. `""` clears it.
            secrets: The secrets available to runs, at most 50.
        """
        return self._call(
            "POST",
            "/agent/environments",
            cast_to=EnvironmentItem,
            body={
                "name": name,
                "team": team,
                "description": description,
                "docker_image": docker_image,
                "github_repos": github_repos,
                "repositories": repositories,
                "setup_commands": setup_commands,
                "variables": variables,
                "providers": providers,
                "network": network,
                "worker_host": worker_host,
                "timeout_minutes": timeout_minutes,
                "max_steps": max_steps,
                "max_total_tokens": max_total_tokens,
                "fallback_model_ids": fallback_model_ids,
                "reasoning_level": reasoning_level,
                "output_schema": output_schema,
                "approvals": approvals,
                "commit_author": commit_author,
                "secrets": secrets,
            },
            options=options,
        )

    def list(
        self,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        sort_by: Union[Literal["name", "last_updated"], NotGiven] = NOT_GIVEN,
        link: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Page[EnvironmentItem]:
        """Lists the environments visible to the caller.

        These are the environments that the caller or a team owns, that are shared with the caller, and the one
        that `link` grants access to. The latest change comes first unless `sort_by` is `name`.

        `GET /agent/environments`

        Args:
            limit: The maximum number of items. By default, up to 500 items or 4 MB.
            cursor: The `page_info.next_cursor` of the previous page.
            sort_by: The sort key. `last_updated` returns the latest change first.
            link: The token of a shared link, which grants read access to its environment.
        """
        return self._list(
            "/agent/environments",
            cast_to=ListEnvironmentsResponse,
            items=lambda response: response.environments,
            query={"limit": limit, "cursor": cursor, "sort_by": sort_by, "link": link},
            options=options,
        )

    def retrieve(
        self, environment_uid: str, *, link: Union[str, NotGiven] = NOT_GIVEN, **options: Unpack[RequestOptions]
    ) -> EnvironmentItem:
        """Returns an environment.

        With the token of its shared `link`, every caller with an API key can read it, without the details of its
        latest run.

        `GET /agent/environments/{environmentUid}`

        Args:
            environment_uid: The environment's id.
            link: The token of a shared link, which grants read access to its environment.
        """
        return self._call(
            "GET",
            _wire.path("/agent/environments/{environment_uid}", environment_uid=environment_uid),
            cast_to=EnvironmentItem,
            query={"link": link},
            options=options,
        )

    def update(
        self,
        environment_uid: str,
        *,
        name: Union[Optional[str], NotGiven] = NOT_GIVEN,
        description: Union[Optional[str], NotGiven] = NOT_GIVEN,
        docker_image: Union[Optional[str], NotGiven] = NOT_GIVEN,
        github_repos: Union[Optional[Sequence[UpdateEnvironmentRequestGithubRepoParam]], NotGiven] = NOT_GIVEN,
        repositories: Union[Optional[Sequence[RepositoryParam]], NotGiven] = NOT_GIVEN,
        setup_commands: Union[Optional[Sequence[str]], NotGiven] = NOT_GIVEN,
        variables: Union[Optional[Mapping[str, str]], NotGiven] = NOT_GIVEN,
        providers: Union[Optional[ProvidersParam], NotGiven] = NOT_GIVEN,
        network: Union[Optional[NetworkParam], NotGiven] = NOT_GIVEN,
        worker_host: Union[Optional[str], NotGiven] = NOT_GIVEN,
        timeout_minutes: Union[Optional[int], NotGiven] = NOT_GIVEN,
        max_steps: Union[Optional[int], NotGiven] = NOT_GIVEN,
        max_total_tokens: Union[Optional[int], NotGiven] = NOT_GIVEN,
        fallback_model_ids: Union[Optional[Sequence[str]], NotGiven] = NOT_GIVEN,
        reasoning_level: Union[
            Optional[Literal["none", "minimal", "low", "medium", "high", "max", ""]], NotGiven
        ] = NOT_GIVEN,
        output_schema: Union[Optional[Mapping[str, Any]], NotGiven] = NOT_GIVEN,
        approvals: Union[Optional[Sequence[UpdateEnvironmentRequestApprovalParam]], NotGiven] = NOT_GIVEN,
        commit_author: Union[Optional[str], NotGiven] = NOT_GIVEN,
        secrets: Union[Optional[Sequence[UpdateEnvironmentRequestSecretParam]], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> EnvironmentItem:
        """Updates an environment.

        Members that are absent or null keep their values; an empty value (`""` or `[]`) clears one. Runs that
        have started keep the previous environment.

        `PUT /agent/environments/{environmentUid}`

        Args:
            environment_uid: The environment's id.
            name: The environment's name, unique within the team or the person.
            description: A description for people.
            docker_image: The container image in which the runs' commands execute. If the deployment does not support images, creating a run returns 422.
            github_repos: The GitHub repositories to clone, at most 10.
            repositories: The Git repositories to clone before the agent starts, at most 10.
            setup_commands: The commands to run before the agent starts, in order, at most 20.
            variables: The plain environment variables of setup commands and commands, at most 100. Everyone who can read the environment can read them.
            providers: Cloud providers that commands sign in to with the identity of their run, without a secret. `{}` removes them.
            network: What commands, clones and MCP servers may call. Everything by default.
            worker_host: The self-hosted worker of runs that set none.
            timeout_minutes: The `timeout_minutes` of runs that set none, up to 10,080. 0 clears it.
            max_steps: The `max_steps` of runs that set none, up to 10,000. 0 clears it.
            max_total_tokens: The `max_total_tokens` of runs that set none, up to 1,000,000,000. 0 clears it.
            fallback_model_ids: The `fallback_model_ids` of runs that set none. `[]` clears them.
            reasoning_level: The `reasoning_level` of runs that set none. `""` clears it.
            output_schema: The `output_schema` of runs that set none. `{}` clears it.
            approvals: The `approvals` of runs that set none. `[]` clears them.
            commit_author: The `commit_author` of runs that set none. `""` clears it.
            secrets: The secrets available to runs, at most 50.
        """
        return self._call(
            "PUT",
            _wire.path("/agent/environments/{environment_uid}", environment_uid=environment_uid),
            cast_to=EnvironmentItem,
            body={
                "name": name,
                "description": description,
                "docker_image": docker_image,
                "github_repos": github_repos,
                "repositories": repositories,
                "setup_commands": setup_commands,
                "variables": variables,
                "providers": providers,
                "network": network,
                "worker_host": worker_host,
                "timeout_minutes": timeout_minutes,
                "max_steps": max_steps,
                "max_total_tokens": max_total_tokens,
                "fallback_model_ids": fallback_model_ids,
                "reasoning_level": reasoning_level,
                "output_schema": output_schema,
                "approvals": approvals,
                "commit_author": commit_author,
                "secrets": secrets,
            },
            options=options,
        )

    def delete(self, environment_uid: str, **options: Unpack[RequestOptions]) -> None:
        """Deletes an environment.

        Schedules and identities that refer to it create no runs until they name another environment.

        `DELETE /agent/environments/{environmentUid}`

        Args:
            environment_uid: The environment's id.
        """
        return self._call(
            "DELETE",
            _wire.path("/agent/environments/{environment_uid}", environment_uid=environment_uid),
            cast_to=type(None),
            options=options,
        )

    def share(
        self,
        environment_uid: str,
        *,
        user_uid: Union[str, NotGiven] = NOT_GIVEN,
        link: Union[Literal[True], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> ShareResponse:
        """Shares an environment with a person or by link.

        A person can list the environment and use it for runs; the limit is 50 people. A link only shows the
        environment. Its URL is returned once and replaces any earlier link.

        `POST /agent/environments/{environmentUid}/share`

        Args:
            environment_uid: The environment's id.
            user_uid: The id of the person to share with. Excludes `link`. At most 512 bytes in UTF-8.
            link: Always true: share by link. Excludes `user_uid`.
        """
        return self._call(
            "POST",
            _wire.path("/agent/environments/{environment_uid}/share", environment_uid=environment_uid),
            cast_to=ShareResponse,
            body={"user_uid": user_uid, "link": link},
            options=options,
        )

    def unshare(
        self,
        environment_uid: str,
        *,
        user_uid: Union[str, NotGiven] = NOT_GIVEN,
        link: Union[Literal[True], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> ShareResponse:
        """Stops sharing an environment with a person or by link.

        Revoking a share that does not exist changes nothing.

        `DELETE /agent/environments/{environmentUid}/share`

        Args:
            environment_uid: The environment's id.
            user_uid: The id of the person to share with. Excludes `link`. At most 512 bytes in UTF-8.
            link: Always true: share by link. Excludes `user_uid`.
        """
        return self._call(
            "DELETE",
            _wire.path("/agent/environments/{environment_uid}/share", environment_uid=environment_uid),
            cast_to=ShareResponse,
            body={"user_uid": user_uid, "link": link},
            options=options,
        )

    def try_out(self, environment_uid: str, **options: Unpack[RequestOptions]) -> RunAgentResponse:
        """Creates a run that only sets up the environment.

        It clones the repositories and runs the setup commands, calls no model, and then ends. The result is in
        the run's timeline and in `setup_failed` of the environment. On a machine with bubblewrap, it becomes the
        environment's `setup_snapshot`, with which later runs start.

        `POST /agent/environments/{environmentUid}/try`

        Args:
            environment_uid: The environment's id.
        """
        return self._call(
            "POST",
            _wire.path("/agent/environments/{environment_uid}/try", environment_uid=environment_uid),
            cast_to=RunAgentResponse,
            options=options,
        )


class EnvironmentsWithRawResponse:
    def __init__(self, raw: Environments) -> None:
        self.create = to_raw(raw.create)
        self.list = to_raw(raw.list)
        self.retrieve = to_raw(raw.retrieve)
        self.update = to_raw(raw.update)
        self.delete = to_raw(raw.delete)
        self.share = to_raw(raw.share)
        self.unshare = to_raw(raw.unshare)
        self.try_out = to_raw(raw.try_out)
