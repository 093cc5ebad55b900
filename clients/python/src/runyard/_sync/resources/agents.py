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
        """The same methods, answering status, headers and value together."""
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
        """Lists the skills in the repositories of the caller's environments, or in the repository that `repo` names. Skills are discovered again after ten minutes; the header `age` is the number of seconds since the oldest discovery.

        `GET /agent`

        Args:
            limit: How many at most. By default all, up to 500 or 4 MB.
            cursor: `page_info.next_cursor` of the page before.
            repo: Skills of this repository alone: `owner/repo`, or its URL without a credential.
            link: The token of a shared link, which opens an environment of others.
            refresh: Looks into the repositories again, however short ago that was.
            include_malformed_skills: Also skills that are malformed, with what is wrong in `error`.
            sort_by: What to sort by. `last_run`: the latest first, those that never ran last.
        """
        return self._list(
            "/agent",
            cast_to=ListAgentsResponse,
            items=lambda answer: answer.agents,
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
