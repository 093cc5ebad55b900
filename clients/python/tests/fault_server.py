"""Two servers on 127.0.0.1, an API and a storage, that send the responses of a script and record requests.

test/clients/README.md documents the responses.
"""

from __future__ import annotations

import json
import re
import socket
import struct
import threading
import time
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any, Callable, Iterator

BASE_PATH = "/api/v1"
Script = list[dict[str, Any]]


@dataclass
class Seen:
    """A received request."""

    at: str
    method: str
    path: str
    """The path without the base path and the query."""
    raw_query: str
    headers: dict[str, str]
    body: bytes


@dataclass
class FaultServer:
    api: str = ""
    storage: str = ""
    seen: list[Seen] = field(default_factory=list)
    mismatches: list[str] = field(default_factory=list)
    """Requests that did not match the script."""
    script: Script = field(default_factory=list)
    responder: Callable[[Seen], dict[str, Any]] | None = None
    """Returns the responses instead of a script."""
    _patience: float = 1
    _sockets: list[socket.socket] = field(default_factory=list)

    def __enter__(self) -> FaultServer:
        self.api = self._listen("api") + BASE_PATH
        self.storage = self._listen("storage")
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._sockets:
            # Ends the blocking accept of the thread.
            each.shutdown(socket.SHUT_RDWR)
            each.close()

    def play(self, script: Script, patience: float = 1) -> None:
        """Starts a new script and clears all records. `patience` multiplies the delays."""
        self.script = list(script)
        self._patience = patience
        self.seen, self.mismatches, self.responder = [], [], None

    def respond(self, responder: Callable[[Seen], dict[str, Any]]) -> None:
        self.play([])
        self.responder = responder

    def _listen(self, at: str) -> str:
        listener = socket.create_server(("127.0.0.1", 0))
        self._sockets.append(listener)
        threading.Thread(target=self._accept, args=(at, listener), daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}"

    def _accept(self, at: str, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(at, connection), daemon=True).start()

    def _serve(self, at: str, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection, connection.makefile("rb") as stream:
            try:
                while (request := _read(stream, at)) is not None:
                    self.seen.append(request)
                    if not self._send_response(connection, self._next(request)):
                        return
            except OSError:
                return  # The client closed the connection.

    def _next(self, request: Seen) -> dict[str, Any]:
        if self.responder is not None:
            return self.responder(request)
        response = self.script.pop(0) if self.script else None
        wanted = None if response is None else response.get("at", "api")
        if response is None or wanted != request.at:
            self.mismatches.append(
                f"{request.method} {request.path} went to the {request.at}, not {wanted or 'nobody'}"
            )
            return {"status": 404, "headers": {"x-should-retry": "false"}}
        return response

    def _send_response(self, connection: socket.socket, response: dict[str, Any]) -> bool:
        """Sends a response. Returns whether the connection stays open."""
        time.sleep(response.get("delay_ms", 0) * self._patience / 1000)
        if response.get("reset") == "before":
            _reset(connection)
            return False
        status = response.get("status", 200)
        body = self._body(response)
        headers: dict[str, str] = {}
        if "body" in response:
            headers["content-type"] = "application/json" if status < 400 else "application/problem+json"
        if status != 204:
            headers["content-length"] = str(len(body))
        headers.update({name.lower(): self._fill(value) for name, value in response.get("headers", {}).items()})
        head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        connection.sendall(f"HTTP/1.1 {status} Said\r\n{head}\r\n".encode("latin-1"))
        half = len(body) // 2 if "stall_ms" in response or "reset" in response else len(body)
        connection.sendall(body[:half])
        time.sleep(response.get("stall_ms", 20 if "reset" in response else 0) * self._patience / 1000)
        if response.get("reset") == "during":
            _reset(connection)
            return False
        for piece in response.get("trickle", [body[half:]]):
            connection.sendall(piece)
        return "close" not in response

    def _body(self, response: dict[str, Any]) -> bytes:
        if "raw" in response:
            raw = response["raw"]
            return raw if isinstance(raw, bytes) else self._fill(raw).encode()
        return self._fill(json.dumps(response["body"])).encode() if "body" in response else b""

    def _fill(self, text: str) -> str:
        text = text.replace("{api}", self.api).replace("{storage}", self.storage)
        return re.sub(r"\{date\+(\d+)s\}", lambda found: formatdate(time.time() + int(found[1]), usegmt=True), text)


def _read(stream: Any, at: str) -> Seen | None:
    line = stream.readline().decode("latin-1").split()
    if len(line) < 3:
        return None
    headers = dict(_headers(stream))
    body = stream.read(int(headers.get("content-length", 0)))
    path, _, query = line[1].partition("?")
    return Seen(at, line[0], path.replace(BASE_PATH, "", 1) if at == "api" else path, query, headers, body)


def _headers(stream: Any) -> Iterator[tuple[str, str]]:
    while line := stream.readline().decode("latin-1").strip():
        name, _, value = line.partition(":")
        yield name.lower(), value.strip()


def _reset(connection: socket.socket) -> None:
    """Resets the connection by closing the socket with a linger time of zero."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    # The stream keeps the socket open, so close the descriptor itself.
    socket.socket(fileno=connection.detach()).close()
