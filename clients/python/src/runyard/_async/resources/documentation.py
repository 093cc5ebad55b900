"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Dict, Union

from typing_extensions import Unpack

from ... import _wire
from ..._decode import Shape
from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from .._resource import AsyncResource, to_raw

_DICT_STR_ANY: Shape[Dict[str, Any]] = Shape(Dict[str, Any])


class AsyncDocumentation(AsyncResource):
    @cached_property
    def with_raw_response(self) -> AsyncDocumentationWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return AsyncDocumentationWithRawResponse(AsyncDocumentation(self._client, _raw=True))

    async def openapi(self, **options: Unpack[RequestOptions]) -> Dict[str, Any]:
        """Returns this OpenAPI document.

        The server URL is the address of the deployment.

        `GET /openapi.json`
        """
        return await self._call("GET", "/openapi.json", cast_to=_DICT_STR_ANY, options=options)

    async def reference(self, *, q: Union[str, NotGiven] = NOT_GIVEN, **options: Unpack[RequestOptions]) -> str:
        """Returns the first page of the documentation, or search results.

        The response is HTML.

        `GET /docs`

        Args:
            q: Words to search for in the documentation. The page then has the results.
        """
        return await self._call("GET", "/docs", cast_to=str, query={"q": q}, options=options)

    async def reference_page(self, name: str, **options: Unpack[RequestOptions]) -> str:
        """Returns the HTML page of an operation or a schema.

        The name is an operation id or the name of a schema in the OpenAPI document. With `.md` at its end, the
        response is Markdown.

        `GET /docs/reference/{name}`

        Args:
            name: The `operationId` of the operation or the name of the schema, with `.md` at its end for the page as Markdown.
        """
        return await self._call("GET", _wire.path("/docs/reference/{name}", name=name), cast_to=str, options=options)

    async def guide(self, guide: str, **options: Unpack[RequestOptions]) -> str:
        """Returns a page of the documentation as HTML.

        With `.md` at the end of the name, the response is Markdown.

        `GET /docs/guides/{guide}`

        Args:
            guide: The page's name, with `.md` at its end for the page as Markdown.
        """
        return await self._call("GET", _wire.path("/docs/guides/{guide}", guide=guide), cast_to=str, options=options)

    async def pages(self, **options: Unpack[RequestOptions]) -> str:
        """Returns links to all pages of the documentation as Markdown, for agents.

        `GET /llms.txt`
        """
        return await self._call("GET", "/llms.txt", cast_to=str, options=options)

    async def errors(self, **options: Unpack[RequestOptions]) -> str:
        """Returns an HTML page with all error codes.

        `GET /docs/errors`
        """
        return await self._call("GET", "/docs/errors", cast_to=str, options=options)

    async def error(self, code: str, **options: Unpack[RequestOptions]) -> str:
        """Returns the HTML page of one error code.

        The `type` of an error response is the URL of this page.

        `GET /docs/errors/{code}`

        Args:
            code: The error code, with dashes instead of underscores.
        """
        return await self._call("GET", _wire.path("/docs/errors/{code}", code=code), cast_to=str, options=options)


class AsyncDocumentationWithRawResponse:
    def __init__(self, raw: AsyncDocumentation) -> None:
        self.openapi = to_raw(raw.openapi)
        self.reference = to_raw(raw.reference)
        self.reference_page = to_raw(raw.reference_page)
        self.guide = to_raw(raw.guide)
        self.pages = to_raw(raw.pages)
        self.errors = to_raw(raw.errors)
        self.error = to_raw(raw.error)
