"""Slurm's JSON of a workload, written from its OpenAPI documents, as old and new versions print it.

Up to 22.05 states are words and numbers plain; from 23.02 on states are lists and numbers may be
objects; `sinfo --json` then lists groups of nodes.
"""

import json
from typing import Any
from zlib import crc32

from emulator.scheduling.workload import Job, Workload

Json = dict[str, Any]

MODEL = "h100"


class SlurmController:
    """Prints what the commands print; `new` from 23.02 on; `counts` tells no indices."""

    def __init__(self, workload: Workload, *, new: bool = True, counts: bool = False) -> None:
        self._load = workload
        self._new = new
        self._counts = counts

    def squeue(self) -> str:
        """Return what `squeue --json` prints."""
        return self._reply(jobs=[self._job(number, job) for number, job in self._numbered()])

    def nodes(self) -> str:
        """Return what `scontrol show nodes --json` prints."""
        rows = []
        for host, total in self._load.hosts.items():
            rows.append(
                {
                    "name": host,
                    "hostname": host,
                    "state": self._state(host),
                    "gres": f"gpu:{MODEL}:{total}(S:0-1)" if total else "",
                    "gres_used": self._gres(self._load.held(host)) if total else "",
                    "partitions": ["batch"],
                }
            )
        return self._reply(nodes=rows)

    def sinfo(self) -> str:
        """Return what `sinfo --json` of new versions prints: each host a group of its own."""
        rows = []
        for host, total in self._load.hosts.items():
            rows.append(
                {
                    "node": {"state": self._state(host)},
                    "nodes": {"nodes": [host], "total": 1},
                    "gres": {
                        "total": f"gpu:{MODEL}:{total}",
                        "used": self._gres(self._load.held(host)),
                    },
                    "partition": {"name": "batch"},
                }
            )
        return self._reply(sinfo=rows)

    def number(self, name: str) -> str:
        """Return the number under which a job runs."""
        return next(str(number) for number, job in self._numbered() if job.name == name)

    def _numbered(self) -> list[tuple[int, Job]]:
        return [(crc32(job.name.encode()) % 10**8, job) for job in self._load.jobs]

    def _reply(self, **rows: list[Json]) -> str:
        meta = {"Slurm": {"version": {"major": "24" if self._new else 21}}}
        stamped = {"last_update": self._number(self._load.now)} if self._new else {}
        return json.dumps({"meta": meta, "errors": [], **stamped, **rows})

    def _job(self, number: int, job: Job) -> Json:
        runs = bool(job.placed)
        state = "RUNNING" if runs else "PENDING"
        asked = f"cpu=8,node={max(len(job.placed), 1)},billing=8"
        if job.size:
            asked += f",gres/gpu={job.size},gres/gpu:{MODEL}={job.size}"
        return {
            "job_id": number,
            "name": job.name,
            "job_state": [state] if self._new else state,
            "state_reason": "None" if runs else job.reason,
            "nodes": _ranges(list(job.placed)),
            "tres_req_str": asked,
            "tres_alloc_str": asked if runs else "",
            "gres_detail": [self._gres(list(taken)) for taken in job.placed.values()],
            "start_time": self._number(job.since if runs else 0),
            "submit_time": self._number(job.since),
            "partition": "batch",
            "array_task_string": "",
        }

    def _state(self, host: str) -> list[str] | str:
        held, total = len(self._load.held(host)), self._load.hosts[host]
        state = "ALLOCATED" if held and held == total else "MIXED" if held else "IDLE"
        down = ["DRAIN"] if host in self._load.drained else []
        if self._new:
            return [state, *down]
        return state.lower() if not down else "drained"

    def _gres(self, taken: list[int]) -> str:
        if self._counts:
            return f"gpu:{MODEL}:{len(taken)}"
        indices = ",".join(map(str, taken)) or "N/A"
        return f"gpu:{MODEL}:{len(taken)}(IDX:{indices})"

    def _number(self, value: float) -> Json | int:
        if not self._new:
            return int(value)
        return {"set": True, "infinite": False, "number": int(value)}


def _ranges(hosts: list[str]) -> str:
    """Return hosts as one list: `host-[001-004]` where they only differ in a number at the end."""
    stems = {host.rstrip("0123456789") for host in hosts}
    ends = [host[len(host.rstrip("0123456789")) :] for host in hosts]
    if len(stems) != 1 or len(hosts) < 2 or not all(ends):
        return ",".join(hosts)
    numbers = [int(end) for end in ends]
    if (
        numbers == list(range(numbers[0], numbers[0] + len(numbers)))
        and len(set(map(len, ends))) == 1
    ):
        return f"{stems.pop()}[{ends[0]}-{ends[-1]}]"
    return f"{stems.pop()}[{','.join(ends)}]"
