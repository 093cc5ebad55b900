"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Dict

from typing_extensions import Unpack

from ... import _wire
from ..._decode import Shape
from ..._options import RequestOptions
from .._resource import Resource, to_raw

_DICT_STR_ANY: Shape[Dict[str, Any]] = Shape(Dict[str, Any])


class Documentation(Resource):
    @cached_property
    def with_raw_response(self) -> DocumentationWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return DocumentationWithRawResponse(Documentation(self._client, _raw=True))

    def openapi(self, **options: Unpack[RequestOptions]) -> Dict[str, Any]:
        """Returns this OpenAPI document.

        The server URL is the address of the deployment.

        `GET /openapi.json`
        """
        return self._call("GET", "/openapi.json", cast_to=_DICT_STR_ANY, options=options)

    def reference(self, **options: Unpack[RequestOptions]) -> str:
        """Returns the API reference as an HTML page.

        `GET /docs`
        """
        return self._call("GET", "/docs", cast_to=str, options=options)

    def errors(self, **options: Unpack[RequestOptions]) -> str:
        """Returns an HTML page with all error codes.

        `GET /docs/errors`
        """
        return self._call("GET", "/docs/errors", cast_to=str, options=options)

    def error(self, code: str, **options: Unpack[RequestOptions]) -> str:
        """Returns the HTML page of one error code.

        The `type` of an error response is the URL of this page.

        `GET /docs/errors/{code}`

        Args:
            code: The error code, with dashes instead of underscores.
        """
        return self._call("GET", _wire.path("/docs/errors/{code}", code=code), cast_to=str, options=options)


class DocumentationWithRawResponse:
    def __init__(self, raw: Documentation) -> None:
        self.openapi = to_raw(raw.openapi)
        self.reference = to_raw(raw.reference)
        self.errors = to_raw(raw.errors)
        self.error = to_raw(raw.error)
