"""Measures the overhead of the client over bare httpx: alternates the same GET of a run against a local server.

python bench/overhead.py [pairs]
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from typing import Callable

import httpx

from runyard import Runyard

RUN = {
    "run_id": "0199a3c4-7b1e-7c52-9d0e-3f6a8b2c4d5e",
    "task_id": "0199a3c4-7b1e-7c52-9d0e-3f6a8b2c4d5e",
    "title": "Fix the flaky checkout test",
    "state": "SUCCEEDED",
    "prompt": "Find out why checkout.test.ts fails now and then, and fix it.",
    "created_at": "2026-05-18T19:00:00.000Z",
    "updated_at": "2026-05-18T19:04:12.518Z",
    "started_at": "2026-05-18T19:00:01.240Z",
    "source": "API",
    "creator": {"type": "user", "uid": "u1", "display_name": "Ada Lovelace", "email": "ada@example.com"},
    "agent_config": {"model_id": "local/runbook", "name": "checkout"},
    "metadata": {"ticket": "SHOP-1412"},
    "scope": {"type": "Team", "uid": "t1"},
}

SERVER = """
import socket, sys, threading
body = sys.argv[1].encode()
head = b"HTTP/1.1 200 OK\\r\\ncontent-type: application/json\\r\\ncontent-length: %d\\r\\n\\r\\n"
response = head % len(body) + body
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
def serve(connection):
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    got = b""
    while piece := connection.recv(65536):
        got += piece
        if got.endswith(b"\\r\\n\\r\\n"):
            connection.sendall(response)
            got = b""
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
"""
"""Runs in its own process, so that its work is not measured. It returns the same response to every request."""


def main() -> None:
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 3000
    with subprocess.Popen([sys.executable, "-c", SERVER, json.dumps(RUN)], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        base_url = f"http://127.0.0.1:{int(server.stdout.readline())}/api/v1"
        try:
            measure(base_url, pairs)
        finally:
            server.kill()


def measure(base_url: str, pairs: int) -> None:
    headers = {"authorization": "Bearer k", "accept": "application/json"}
    with httpx.Client() as http, Runyard(api_key="k", base_url=base_url) as client:

        def bare() -> object:
            response = http.get(f"{base_url}/agent/runs/r1", headers=headers)
            response.raise_for_status()
            return response.json()

        def ours() -> object:
            return client.runs.retrieve("r1")

        for _ in range(200):
            bare(), ours()
        times = [(timed(bare), timed(ours)) for _ in range(pairs)]
    httpx_p50, ours_p50 = (statistics.median(each) * 1e6 for each in zip(*times))
    print(f"httpx {httpx_p50:.0f} µs, runyard {ours_p50:.0f} µs at the median of {pairs} requests each")
    print(f"ratio {ours_p50 / httpx_p50:.2f}")


def timed(call: Callable[[], object]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


if __name__ == "__main__":
    main()
