"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property
from typing import Union

from typing_extensions import Literal, Unpack

from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...types import (
    AgentItem,
    ListAgentsResponse,
)
from .._io import Page
from .._resource import Resource, to_raw


class Agents(Resource):
    @cached_property
    def with_raw_response(self) -> AgentsWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return AgentsWithRawResponse(Agents(self._client, _raw=True))

    def list(
        self,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        repo: Union[str, NotGiven] = NOT_GIVEN,
        link: Union[str, NotGiven] = NOT_GIVEN,
        refresh: Union[bool, NotGiven] = NOT_GIVEN,
        include_malformed_skills: Union[bool, NotGiven] = NOT_GIVEN,
        sort_by: Union[Literal["name", "last_run"], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Page[AgentItem]:
        """Lists the skills in the repositories of the caller's environments.

        With `repo`, only the skills of that repository are listed. Results are cached for 10 minutes;
        `refresh=true` reads the repositories again, and the header `Age` gives the age of the oldest cached
        result in seconds. Repositories that cannot be read are listed in `unavailable`. More than 100
        repositories return 400; use `repo` then.

        `GET /agent`

        Args:
            limit: The maximum number of items. By default, up to 500 items or 4 MB.
            cursor: The `page_info.next_cursor` of the previous page.
            repo: Lists only this repository: `owner/repo`, or its URL without credentials.
            link: The token of a shared link, which grants read access to its environment.
            refresh: Whether to read the repositories again instead of using cached results.
            include_malformed_skills: Whether to include malformed skills, with the reason in `error`.
            sort_by: The sort key. `last_run` returns the latest run first, and skills without runs last.
        """
        return self._list(
            "/agent",
            cast_to=ListAgentsResponse,
            items=lambda response: response.agents,
            query={
                "limit": limit,
                "cursor": cursor,
                "repo": repo,
                "link": link,
                "refresh": refresh,
                "include_malformed_skills": include_malformed_skills,
                "sort_by": sort_by,
            },
            options=options,
        )


class AgentsWithRawResponse:
    def __init__(self, raw: Agents) -> None:
        self.list = to_raw(raw.list)
