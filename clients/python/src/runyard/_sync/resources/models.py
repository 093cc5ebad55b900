"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property

from typing_extensions import Unpack

from ..._options import RequestOptions
from ...types import (
    ModelsResponse,
)
from .._resource import Resource, to_raw


class Models(Resource):
    @cached_property
    def with_raw_response(self) -> ModelsWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return ModelsWithRawResponse(Models(self._client, _raw=True))

    def list(self, **options: Unpack[RequestOptions]) -> ModelsResponse:
        """Lists the available models and the default model.

        `default_model_id` is the model of runs that set none: the team's setting, or else the deployment's
        default. A model with a `disable_reason` cannot be used at the moment.

        `GET /agent/models`
        """
        return self._call("GET", "/agent/models", cast_to=ModelsResponse, options=options)


class ModelsWithRawResponse:
    def __init__(self, raw: Models) -> None:
        self.list = to_raw(raw.list)
