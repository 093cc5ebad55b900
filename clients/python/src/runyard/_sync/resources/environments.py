"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property
from typing import Optional, Sequence, Union

from typing_extensions import Literal, Unpack

from ... import _wire
from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...params import (
    CreateEnvironmentRequestGithubRepoParam,
    CreateEnvironmentRequestSecretParam,
    RepositoryParam,
    UpdateEnvironmentRequestGithubRepoParam,
    UpdateEnvironmentRequestSecretParam,
)
from ...types import (
    EnvironmentItem,
    ListEnvironmentsResponse,
    ShareResponse,
)
from .._io import Page
from .._resource import Resource, to_raw


class Environments(Resource):
    @cached_property
    def with_raw_response(self) -> EnvironmentsWithRawResponse:
        """The same methods, answering status, headers and value together."""
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
        secrets: Union[Optional[Sequence[CreateEnvironmentRequestSecretParam]], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> EnvironmentItem:
        """Creates an environment.

        `POST /agent/environments`

        Args:
            name: What it is called; unique where it belongs.
            team: Whether it belongs to the team. By default it does, where the caller has one.
            description: What it is for.
            docker_image: The image that its runs work in. Runs are refused with 422 where the deployment has no containers.
            github_repos: Repositories on GitHub that are cloned.
            repositories: Git repositories that are cloned before the agent begins.
            setup_commands: What is run before the agent begins, in order.
            secrets: Secrets that its runs may use, by name.
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
        """Lists the environments that the caller owns or that are shared with it.

        `GET /agent/environments`

        Args:
            limit: How many at most. By default all, up to 500 or 4 MB.
            cursor: `page_info.next_cursor` of the page before.
            sort_by: What to sort by.
            link: The token of a shared link, which opens an environment of others.
        """
        return self._list(
            "/agent/environments",
            cast_to=ListEnvironmentsResponse,
            items=lambda answer: answer.environments,
            query={"limit": limit, "cursor": cursor, "sort_by": sort_by, "link": link},
            options=options,
        )

    def retrieve(
        self, environment_uid: str, *, link: Union[str, NotGiven] = NOT_GIVEN, **options: Unpack[RequestOptions]
    ) -> EnvironmentItem:
        """Returns an environment, also to a caller with its link.

        `GET /agent/environments/{environmentUid}`

        Args:
            environment_uid: The environment's uid.
            link: The token of a shared link, which opens an environment of others.
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
        secrets: Union[Optional[Sequence[UpdateEnvironmentRequestSecretParam]], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> EnvironmentItem:
        """Changes an environment.

        `PUT /agent/environments/{environmentUid}`

        Args:
            environment_uid: The environment's uid.
            name: What it is called; unique where it belongs.
            description: What it is for.
            docker_image: The image that its runs work in. Runs are refused with 422 where the deployment has no containers.
            github_repos: Repositories on GitHub that are cloned.
            repositories: Git repositories that are cloned before the agent begins.
            setup_commands: What is run before the agent begins, in order.
            secrets: Secrets that its runs may use, by name.
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
                "secrets": secrets,
            },
            options=options,
        )

    def delete(self, environment_uid: str, **options: Unpack[RequestOptions]) -> None:
        """Deletes an environment.

        `DELETE /agent/environments/{environmentUid}`

        Args:
            environment_uid: The environment's uid.
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

        `POST /agent/environments/{environmentUid}/share`

        Args:
            environment_uid: The environment's uid.
            user_uid: The person it is shared with. At most 512 bytes in UTF-8.
            link: The link to send to whom it is for, shown this once.
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

        `DELETE /agent/environments/{environmentUid}/share`

        Args:
            environment_uid: The environment's uid.
            user_uid: The person it is shared with. At most 512 bytes in UTF-8.
            link: The link to send to whom it is for, shown this once.
        """
        return self._call(
            "DELETE",
            _wire.path("/agent/environments/{environment_uid}/share", environment_uid=environment_uid),
            cast_to=ShareResponse,
            body={"user_uid": user_uid, "link": link},
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
