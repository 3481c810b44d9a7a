"""The life of a daemon: start, serve, reload, stop."""

import asyncio
import logging
import signal
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from collectors.sharding import WHOLE, Shard
from fabrichealth.cli._api import Api
from fabrichealth.cli._collecting import Collecting
from fabrichealth.cli._own_watchers import OwnWatchers
from fabrichealth.cli._page_api import PageApi
from fabrichealth.cli._remedying import Remedying
from fabrichealth.cli._silenced import follow
from fabrichealth.cli._site import Setup, load
from fabrichealth.errors import FabricHealthError, SiteError
from fabrichealth.events import Event
from fabrichealth.remediation.remedies import Remedies
from fabrichealth.runtime.alertmanager import Alertmanager
from fabrichealth.runtime.clock import Clock
from fabrichealth.runtime.forwarding import Forwarding
from fabrichealth.runtime.peer import Peer
from fabrichealth.runtime.systemd import notify, reloading, watched
from fabrichealth.web.access import Access, read_access
from fabrichealth.web.page import Page
from fabrichealth.web.server import application, serve

log = logging.getLogger("fabrichealth")

SIGNS = 3
"""Signs of life within the span in which the service manager wants one."""


async def live(
    setup: Setup,
    clock: Clock,
    *,
    keep: bool,
    judge: bool,
    polls: bool = True,
    reload: Callable[[], Setup] | None = None,
    told: Callable[[dict[str, Any]], None] | None = None,
    serving: Callable[[str], None] | None = None,
    judged: Callable[[], None] | None = None,
    stop: asyncio.Event | None = None,
) -> None:
    """Collect, judge and serve until told to stop (`stop`, SIGTERM or SIGINT).

    `reload` gives a fresh setup on SIGHUP; if it raises, the old one stays. `told` hears each
    incident, `serving` the address once HTTP answers, `judged` the first pass of the judge.

    Raises:
        StoreError: the store cannot be opened.
        SiteError: the address or the web configuration cannot be used.
    """
    stop = stop or asyncio.Event()
    collecting = Collecting(setup, clock, keep, polls)
    api = Api(collecting)

    peers = [Peer.of(row) for row in setup.site.notify]
    notified = [Alertmanager(peer, setup.site.external_url) for peer in peers]
    heard = [peer for peer, row in zip(peers, setup.site.notify, strict=True) if row.silences]
    analyzers = _analyzers(collecting)
    remedies = Remedies(setup.remediators(), collecting.paths.remedies, clock.now)
    remedying = Remedying(collecting, remedies)
    own = OwnWatchers(collecting, lambda: [*notified, *analyzers, *remedies.receivers])

    def hear(incident: dict[str, Any]) -> None:
        api.tell(incident)
        for one in notified:
            one.tell(incident)
        if told is not None:
            told(incident)

    collecting.told = hear
    access = read_access(setup.site.web_config) if setup.site.web_config else Access()
    await collecting.start()
    tasks: list[asyncio.Task[None]] = []
    server = None
    try:
        app = application(
            collecting.exporter,
            clock.now,
            routes=[
                *api.routes(),
                *PageApi(collecting).routes(),
                *Page().routes(),
                *remedying.routes(),
            ],
            waiting_for=collecting.waiting_for,
            access=access,
        )
        server = await serve(app, setup.site.listen, access)
        _watch_signals(collecting, own, stop, reload)
        tasks.append(asyncio.create_task(own.run()))
        tasks.append(asyncio.create_task(follow(heard, collecting)))
        for one in notified:
            for incident in collecting.incidents.values():
                one.tell(incident)
        tasks += _telling([*notified, *analyzers])
        if judge:
            tasks.append(asyncio.create_task(_first_pass(collecting, judged)))
            tasks.append(asyncio.create_task(collecting.judged()))
            tasks.append(asyncio.create_task(remedying.run()))
        if serving is not None:
            serving(server.address)
        notify("READY=1")
        if span := watched():
            tasks.append(asyncio.create_task(_signs_of_life(span)))
        await stop.wait()
    finally:
        notify("STOPPING=1")
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if server is not None:
            await server.close()
        await collecting.stop()


async def _signs_of_life(span: float) -> None:
    """Say that the loop turns, in which everything is polled, kept and served."""
    while True:
        notify("WATCHDOG=1")
        await asyncio.sleep(span / SIGNS)


async def _first_pass(collecting: Collecting, judged: Callable[[], None] | None) -> None:
    await collecting.judging.wait()
    if judged is not None:
        judged()


def _telling(receivers: Sequence[Alertmanager | Forwarding]) -> list[asyncio.Task[None]]:
    return [asyncio.create_task(one.run()) for one in receivers]


def _analyzers(collecting: Collecting) -> list[Forwarding]:
    """Return the analyzers that hear of the events which the daemon's own sources bring."""
    found = [Forwarding(Peer.of(row)) for row in collecting.setup.site.events_to]

    def forward(event: Event) -> None:
        for one in found:
            one.tell(event)

    collecting.brought = forward
    return found


def _watch_signals(
    collecting: Collecting,
    own: OwnWatchers,
    stop: asyncio.Event,
    reload: Callable[[], Setup] | None,
) -> None:
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    if reload is not None:
        tasks: set[asyncio.Task[None]] = set()

        def hup() -> None:
            task = asyncio.create_task(_reload(collecting, own, reload))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

        loop.add_signal_handler(signal.SIGHUP, hup)


async def _reload(collecting: Collecting, own: OwnWatchers, reload: Callable[[], Setup]) -> None:
    notify(reloading())
    try:
        setup = await asyncio.to_thread(reload)
        await collecting.reload(setup)
    except FabricHealthError as wrong:
        log.error("site file not taken up, the old one stays: %s", wrong)
        own.site_file_taken = False
    else:
        own.site_file_taken = True
        log.info("site file taken up: %d targets", setup.held())
    own.tell()
    notify("READY=1")


def stay(
    config: Path,
    *,
    keep: bool,
    judge: bool,
    polls: bool = True,
    shard: Shard = WHOLE,
    domains: tuple[str, ...] = (),
) -> None:
    """Run a daemon from its site file until it is stopped.

    It reads the targets of its shard, and judges the incidents of some domains, or of all.

    Raises:
        SiteError: the site file is wrong.
        FabricHealthError: the address is taken.
    """
    again = partial(load, config, shard, domains)
    setup = again()
    if not polls and not setup.store.shared:
        raise SiteError(
            f"{config}: store: analyze needs one on a server, of kind prometheus or influx; "
            "on one machine `run` collects and judges"
        )

    def serving(address: str) -> None:
        log.info("serving %s/metrics, %d targets", address, setup.held() if polls else 0)

    work = live(setup, Clock(), keep=keep, judge=judge, polls=polls, reload=again, serving=serving)
    asyncio.run(work)
