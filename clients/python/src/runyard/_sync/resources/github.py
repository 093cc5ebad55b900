"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property
from typing import Union

from typing_extensions import Unpack

from ... import _wire
from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...types import (
    InstallationClaim,
    InstallationItem,
    ListInstallationsResponse,
)
from .._io import Page
from .._resource import Resource, to_raw


class Github(Resource):
    @cached_property
    def with_raw_response(self) -> GithubWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return GithubWithRawResponse(Github(self._client, _raw=True))

    def begin_claim(self, **options: Unpack[RequestOptions]) -> InstallationClaim:
        """Starts the claim of an installation of the GitHub App.

        GitHub redirects to the web app, with a `state`, a `code` and the `installation_id`, for POST
        /agent/github/installations. The claim must be complete within an hour. Requires the role `admin`.

        `POST /agent/github/claims`
        """
        return self._call("POST", "/agent/github/claims", cast_to=InstallationClaim, options=options)

    def claim(
        self, *, installation_id: int, state: str, code: str, **options: Unpack[RequestOptions]
    ) -> InstallationItem:
        """Adds an installation of the GitHub App to the team.

        No other team can use it. The `code` must be of an owner of the account on which the App is installed.
        Returns 409 if a team has claimed the installation. Requires the role `admin`, and the person who started
        the claim.

        `POST /agent/github/installations`

        Args:
            installation_id: GitHub's id of the installation.
            state: The `state` of the claim, which GitHub repeats.
            code: The `code` that identifies the person who authorized the App to GitHub.
        """
        return self._call(
            "POST",
            "/agent/github/installations",
            cast_to=InstallationItem,
            body={"installation_id": installation_id, "state": state, "code": code},
            options=options,
        )

    def installations(
        self,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Page[InstallationItem]:
        """Lists the team's installations of the GitHub App.

        Requires the role `admin`.

        `GET /agent/github/installations`

        Args:
            limit: The maximum number of items. By default, up to 500 items or 4 MB.
            cursor: The `page_info.next_cursor` of the previous page.
        """
        return self._list(
            "/agent/github/installations",
            cast_to=ListInstallationsResponse,
            items=lambda response: response.installations,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    def release(self, installation_id: str, **options: Unpack[RequestOptions]) -> None:
        """Removes an installation of the GitHub App from the team.

        The App stays installed on GitHub. Requires the role `admin`.

        `DELETE /agent/github/installations/{installationId}`

        Args:
            installation_id: GitHub's id of the installation.
        """
        return self._call(
            "DELETE",
            _wire.path("/agent/github/installations/{installation_id}", installation_id=installation_id),
            cast_to=type(None),
            options=options,
        )


class GithubWithRawResponse:
    def __init__(self, raw: Github) -> None:
        self.begin_claim = to_raw(raw.begin_claim)
        self.claim = to_raw(raw.claim)
        self.installations = to_raw(raw.installations)
        self.release = to_raw(raw.release)
