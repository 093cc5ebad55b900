from __future__ import annotations

import ssl
from typing import Iterator

import httpx
import pytest
from fault_server import FaultServer

from runyard import AsyncRunyard, Runyard


@pytest.fixture(scope="session", autouse=True)
def _without_certificates() -> Iterator[None]:
    """Skips loading certificates, which takes longer than most tests. No test uses TLS."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ssl.SSLContext, "load_verify_locations", lambda *_, **__: None)
        yield


@pytest.fixture
def server() -> Iterator[FaultServer]:
    """A new server without a script, which no late request of another test can reach."""
    with FaultServer() as started:
        yield started


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits of clients in seconds. Clients do not wait."""
    recorded: list[float] = []

    def sleep(seconds: float) -> None:
        recorded.append(seconds)

    async def sleep_async(seconds: float) -> None:
        recorded.append(seconds)

    for module in ("_transport", "_runs"):
        monkeypatch.setattr(f"runyard._sync.{module}.sleep", sleep)
        monkeypatch.setattr(f"runyard._async.{module}.sleep", sleep_async)
    return recorded


@pytest.fixture(scope="session")
def _http() -> Iterator[httpx.Client]:
    """One client for all tests, because creating one is slow."""
    with httpx.Client() as http:
        yield http


@pytest.fixture
def client(server: FaultServer, waits: list[float], _http: httpx.Client) -> Runyard:
    """A client of the fault server that does not wait."""
    return Runyard(api_key="ryp_test", base_url=server.api, http_client=_http)


@pytest.fixture
async def async_client(server: FaultServer, waits: list[float]) -> AsyncRunyard:
    return AsyncRunyard(api_key="ryp_test", base_url=server.api)
