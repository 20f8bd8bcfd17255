"""A small experiment, a cluster of nodes on this machine, and a driver, each a process of its own.

`host` starts a cluster and obeys the lines it reads; `drive` runs the experiment on it or, without one, in
turn.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from engine.contract.payload import Measured, Payload
from engine.contract.seeds import Stream
from engine.run import Documents, Task, in_turn, run

DRAWS, PARTS = 9, 3
APART = {"draw/*": (), "part/*": ("draw/*",)}


@dataclass(frozen=True)
class Trial:
    """Draws that need nothing, parts that each read some draws, and an end that reads the parts."""

    log: str
    key: str = "one"
    pause: float = 0.0
    fault: str = ""

    def tasks(self) -> list[Task]:
        """The tasks, the draws and parts in an order in which no worker would finish them."""
        draws = [Task(f"draw/{i}", 1.0, partial(self.draw, i)) for i in range(DRAWS)]
        parts = [Task(f"part/{i}", 1.0, partial(self.part, i)) for i in range(PARTS)]
        return [*draws, *parts, Task("end", 1.0, self.end)]

    def draw(self, index: int, _: Documents) -> dict[str, Any]:
        """A product of random matrices, whose last digits depend on how it is added up."""
        self.say("begun", f"draw/{index}")
        time.sleep(self.pause * (10 if os.environ.get("TRIAL_SLOW") else 1))
        if self.fault == "deadly" and index == 4:
            os.kill(os.getpid(), 9)
        left, right = (Stream(7, f"{index}/{side}").uniform(90_000).reshape(300, 300) for side in "lr")
        made = left.astype(np.float32) @ right.astype(np.float32)
        self.say("done", f"draw/{index}")
        return {"sum": float(made.sum()), "trace": float(np.trace(made))}

    def part(self, index: int, documents: Documents) -> float:
        """The sum of some draws."""
        self.say("begun", f"part/{index}")
        if self.fault == "undeclared":
            return float(documents["part/0"])
        found = [documents[f"draw/{i}"]["sum"] for i in range(index, DRAWS, PARTS)]
        self.say("done", f"part/{index}")
        return float(sum(found))

    def end(self, documents: Documents) -> list[float]:
        """All parts and draws in order."""
        self.say("begun", "end")
        self.say("done", "end")
        draws = [documents[f"draw/{i}"]["trace"] for i in range(DRAWS)]
        return [*draws, *(documents[f"part/{i}"] for i in range(PARTS))]

    def say(self, what: str, name: str) -> None:
        """Note what was begun or done, by which process, on a slow node or not."""
        with Path(self.log).open("a") as log:
            log.write(f"{what} {name} {os.getpid()} {os.environ.get('TRIAL_SLOW', 'quick')}\n")

    def payloads(self, documents: Documents) -> Sequence[Payload]:
        """One payload with every number to its last digit."""
        results = {f"n{i}": {"value": value, "unit": "one"} for i, value in enumerate(documents["end"])}
        provenance = {"command": ["trial"], "commit": "0" * 40, "dirty": False, "versions": {}}
        return [
            Measured.model_validate(
                {
                    "schema": "specdec-sidechannels/payload/1",
                    "name": "trial/cluster",
                    "question": "How much?",
                    "regime": {"target": "none"},
                    "config": {"order": list(documents)},
                    "seeds": {"root": 7},
                    "provenance": provenance | {"device": "CPU", "models": [], "inputs": []},
                    "results": results,
                }
            )
        ]


def make(log: str, key: str, pause: float, fault: str) -> Trial:
    """The trial; with the fault `other`, on a node it is not what the driver runs."""
    here = os.environ.get("TRIAL_DRIVER")
    return Trial(log, key if here or fault != "other" else "another", pause, fault)


def drive(out: str, log: str, key: str, pause: str, fault: str) -> None:
    """Run the trial, on the cluster at RAY_ADDRESS or in turn, with one thread a task."""
    os.environ["TRIAL_DRIVER"] = "1"
    executor = in_turn
    if "RAY_ADDRESS" in os.environ:
        from engine.cluster import OnRay

        executor = OnRay(partial(make, log, key, float(pause), fault), APART, threads=1)  # type: ignore[assignment]
    run("trial", make(log, key, float(pause), fault), Path(out), executor)


def host(folder: str, nodes: str) -> None:
    """A cluster of so many nodes; then `add`, `slow` and `kill`, a line each, until the end."""
    os.environ |= PATIENT | {"RAY_TMPDIR": folder}  # where Ray keeps all it writes, below the name ray
    sessions = Path(folder) / "ray"
    sessions.mkdir(exist_ok=True)
    cluster, others = next(filter(None, (started(sessions, int(nodes)) for _ in range(TRIES))))
    print(json.dumps({"address": cluster.address}), flush=True)
    for line in sys.stdin:
        match line.strip():
            case "kill":
                cluster.remove_node(others.pop(), allow_graceful=False)
            case "slow":
                others.append(cluster.add_node(**node(sessions, TRIAL_SLOW="slow")))
            case "add":
                others.append(cluster.add_node(**node(sessions)))
        print("done", flush=True)
    cluster.shutdown()


def started(folder: Path, nodes: int) -> tuple[Any, list[Any]] | None:
    """A cluster and its nodes beside the head; None where the machine was too busy for Ray's own patience."""
    from ray.cluster_utils import Cluster

    cluster = Cluster()
    try:
        cluster.add_node(**node(folder))
        return cluster, [cluster.add_node(**node(folder)) for _ in range(nodes - 1)]
    except Exception as error:  # of no class of its own
        print(f"Ray did not start: {error}", file=sys.stderr)
        cluster.shutdown()
        (folder / "session_latest").unlink(missing_ok=True)
        return None


TRIES = 3
"""How often a cluster is started before this machine is given up."""

PATIENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_register_timeout_seconds": "600",
    "RAY_worker_niceness": "0",
    "RAY_prestart_worker_first_driver": "0",
}
"""Ray's settings for a machine that does much else."""

AGENTS = (
    "metrics_agent_port",
    "dashboard_agent_listen_port",
    "runtime_env_agent_port",
    "metrics_export_port",
)


def node(folder: Path, **environment: str) -> dict[str, Any]:
    """The arguments of one node, whose agents' ports are told in advance.

    Ray gives its agents fifteen seconds to tell them (ray-project/ray 65983), which a busy machine exceeds.
    """
    name, ports = os.urandom(28).hex(), dict(zip(AGENTS, free_ports(len(AGENTS)), strict=True))
    threading.Thread(target=tell, args=(folder, name, ports), daemon=True).start()
    return {
        "num_cpus": 1,
        "object_store_memory": 80 * 1024 * 1024,
        "include_dashboard": False,
        "env_vars": environment | {"RAY_OVERRIDE_NODE_ID_FOR_TESTING": name},
        **ports,
    }


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on now."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in sockets]


def tell(folder: Path, name: str, ports: dict[str, int]) -> None:
    """Write the files that the agents would write, as soon as there is a session."""
    while not (session := folder / "session_latest").is_dir():
        time.sleep(0.05)
    for agent, port in ports.items():
        (session / f"{agent}_{name}").write_text(str(port))


if __name__ == "__main__":
    role, *given = sys.argv[1:]
    {"drive": drive, "host": host}[role](*given)
