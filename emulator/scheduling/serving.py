"""A scheduler that answers on loopback: Kubernetes' API over a fabric's workload."""

from aiohttp import web

from emulator.scheduling.kubernetes import ApiServer
from emulator.scheduling.workload import Workload

NAME = "k8s"
"""Of the target that reads it."""


class ClusterServer:
    """Serves the API on a free port."""

    def __init__(self, workload: Workload) -> None:
        self._api = ApiServer(workload)
        self._runner: web.AppRunner | None = None
        self.address = ""
        """Where it answers, once started."""

    async def start(self) -> None:
        """Answer from now on."""
        self._runner = web.AppRunner(self._api.application(), access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.address = f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def stop(self) -> None:
        """Answer nobody any more."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
