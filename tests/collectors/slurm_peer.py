"""A real Slurm on loopback: a controller, and two hosts of four accelerators that are files.

`SLURM_PEER=1 pytest tests/collectors/test_slurm_live.py`, with Debian's slurmctld, slurmd,
slurm-client and slurm-wlm-basic-plugins. It does not run with all the others: its scheduler
starves on a machine whose cores are busy.
"""

import os
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

TOOLS = ("slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "sinfo", "scancel")

ASKED = "SLURM_PEER"
"""In the environment, where a real cluster may be started: it wants the machine for itself."""

WANTED = {
    f"{ASKED}=1": bool(os.environ.get(ASKED)),
    **{tool: shutil.which(tool) is not None for tool in TOOLS},
    "root": os.geteuid() == 0,
}
MISSING = next((name for name, there in WANTED.items() if not there), "")
"""The first thing that is missing; empty where all is there."""

SETTINGS = """\
ClusterName=emulated
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={ports[0]}
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/controller.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/controller.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
GresTypes=gpu
MpiDefault=none
SlurmdParameters=config_overrides
NodeName=host-0 NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports[1]} CPUs=4 Gres=gpu:h100:4
NodeName=host-1 NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports[2]} CPUs=4 Gres=gpu:h100:4
PartitionName=batch Nodes=ALL Default=YES State=UP
"""


PATIENCE = 90.0
"""Seconds: other tests may have both cores."""


@dataclass
class Slurm:
    """A running cluster; its commands work while SLURM_CONF is `conf`."""

    folder: Path
    daemons: "list[subprocess.Popen[bytes]]"

    @property
    def conf(self) -> Path:
        """Its settings."""
        return self.folder / "slurm.conf"

    def run(self, *words: str) -> str:
        """Run one of its commands; it must end well."""
        return self._ran(*words, check=True)

    def _ran(self, *words: str, check: bool) -> str:
        done = subprocess.run(
            words, env={**os.environ, "SLURM_CONF": str(self.conf)},
            capture_output=True, text=True, check=check, timeout=20,
        )  # fmt: skip
        return done.stdout

    def submit(self, *options: str) -> str:
        """Submit a job that sleeps; return its number."""
        words = ("--parsable", "-o", "/dev/null", *options, "--wrap", "sleep 300")
        return self.run("sbatch", *words).strip()

    def until(self, what: str, *words: str) -> None:
        """Wait until a command prints something."""
        ends = time.monotonic() + PATIENCE
        while time.monotonic() < ends:
            if what in self._ran(*words, check=False):  # the controller may still be starting
                return
            time.sleep(0.1)
        raise TimeoutError(f"{words}: no {what}")

    def stop(self) -> None:
        """End every job and both daemons."""
        self.run("scancel", "-u", "root")
        for _ in range(50):
            if not self.run("squeue", "-h").strip():
                break
            time.sleep(0.1)
        for one in reversed(self.daemons):
            one.terminate()
            one.wait(20)

    def begin(self, *words: str) -> None:
        """Start a daemon of it."""
        self.daemons.append(
            subprocess.Popen(
                words, env={**os.environ, "SLURM_CONF": str(self.conf)},
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )
        )  # fmt: skip


def started(folder: Path) -> Slurm:
    """Start a cluster whose files lie in a folder, and wait until its hosts are idle."""
    (folder / "state").mkdir(parents=True)
    taken = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
    ports = [one.getsockname()[1] for one in taken]
    for one in taken:
        one.close()
    for number in range(4):
        (folder / f"gpu{number}").touch()
    slurm = Slurm(folder, [])
    slurm.conf.write_text(SETTINGS.format(folder=folder, ports=ports))
    (folder / "gres.conf").write_text(
        f"NodeName=host-[0-1] Name=gpu Type=h100 File={folder}/gpu[0-3]\n"
    )
    slurm.begin("slurmctld", "-D", "-c")
    for name in ("host-0", "host-1"):
        slurm.begin("slurmd", "-D", "-N", name)
    slurm.until("2 idle", "sinfo", "-h", "-o", "%D %t")
    return slurm
