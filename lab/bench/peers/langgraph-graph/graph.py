"""The least that langgraph dev can do of what a run of one command does here: one node that runs it."""

import subprocess
from typing import TypedDict

from langgraph.graph import END, START, StateGraph


class State(TypedDict, total=False):
    command: str
    output: str


def run(state: State) -> State:
    done = subprocess.run(["bash", "-eo", "pipefail", "-c", state["command"]], capture_output=True, text=True)
    return {"output": done.stdout}


builder = StateGraph(State)
builder.add_node("run", run)
builder.add_edge(START, "run")
builder.add_edge("run", END)
graph = builder.compile()
