"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Mapping, Union

from typing_extensions import Literal, Unpack

from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...types import (
    McpResponse,
)
from .._resource import AsyncResource, to_raw


class AsyncMcp(AsyncResource):
    @cached_property
    def with_raw_response(self) -> AsyncMcpWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return AsyncMcpWithRawResponse(AsyncMcp(self._client, _raw=True))

    async def send(
        self,
        *,
        jsonrpc: Literal["2.0"],
        id: Union[str, float, NotGiven] = NOT_GIVEN,
        method: Union[str, NotGiven] = NOT_GIVEN,
        params: Union[Mapping[str, Any], NotGiven] = NOT_GIVEN,
        result: Union[Any, NotGiven] = NOT_GIVEN,
        error: Union[Any, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> McpResponse:
        """Sends a message to the MCP server and returns its response.

        The transport is Streamable HTTP without sessions. Agents and editors start, read and steer runs with the
        tools of this server. A tool needs the scope of the endpoint that it stands for; without it, the tool
        returns an error. A notification returns 202. Only API keys are accepted, no web session.

        `POST /mcp`

        Args:
            jsonrpc: The version of JSON-RPC.
            id: The id of a request, which its response repeats. A notification has none.
            method: What the client requests, such as `tools/list` or `tools/call`.
            params: The arguments of the method.
            result: The result of a response of the client, which is ignored.
            error: The error of a response of the client, which is ignored.
        """
        return await self._call(
            "POST",
            "/mcp",
            cast_to=McpResponse,
            body={"jsonrpc": jsonrpc, "id": id, "method": method, "params": params, "result": result, "error": error},
            options=options,
        )


class AsyncMcpWithRawResponse:
    def __init__(self, raw: AsyncMcp) -> None:
        self.send = to_raw(raw.send)
