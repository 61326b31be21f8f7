"""The port where Prometheus reads the metrics of one process, or of several that share the port."""

from __future__ import annotations

import logging
import math
import os
import struct
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from tempfile import TemporaryDirectory

from prometheus_client import (
    REGISTRY,
    CollectorRegistry,
    Metric,
    PlatformCollector,
    ProcessCollector,
    start_http_server,
)
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead
from prometheus_client.registry import Collector

from monitoring.settings import Settings, SettingsError

# The number of attempts to read the children's files. An attempt fails if files appear or disappear while it
# runs.
READINGS = 20
PAUSE_SECONDS = 0.01

log = logging.getLogger(__name__)


@contextmanager
def serve_metrics(settings: Settings, registry: CollectorRegistry = REGISTRY) -> Iterator[str | None]:
    """Serve metrics on METRICS_PORT until the context ends. Yields the URL, or None without METRICS_PORT.

    Raises `SettingsError` if the address is not available.
    """
    if settings.metrics_port is None:
        yield None
        return
    served = CollectorRegistry()
    served.register(_Known(registry))
    try:
        server, thread = start_http_server(settings.metrics_port, settings.metrics_host, served)
    except OSError as error:
        problem = f"cannot listen on {settings.metrics_host}, port {settings.metrics_port}"
        raise SettingsError(f"METRICS_PORT: {problem}: {error.strerror}") from None
    host = f"[{settings.metrics_host}]" if ":" in settings.metrics_host else settings.metrics_host
    url = f"http://{host}:{server.server_port}/metrics"
    log.info("Metrics on %s", url)
    try:
        yield url
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Known(Collector):
    """Collects metrics, but omits unknown values, which could be mistaken for old values or for zero."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterator[Metric]:
        """Yield the registry's metrics without unknown values."""
        for family in self._registry.collect():
            family.samples = [sample for sample in family.samples if not math.isnan(sample.value)]
            yield family


class _Processes(Collector):
    """The `process_…` metrics of this process and, with the label `process`, those of its children."""

    def __init__(self, children: Callable[[], Mapping[str, int]]) -> None:
        self._children = children
        self._own = ProcessCollector(registry=None)

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics of each process, which come from the kernel."""
        families = {family.name: family for family in self._own.collect()}
        for name, process_id in self._children().items():
            for family in _collector_of(process_id).collect():
                for sample in family.samples:
                    families[family.name].add_sample(sample.name, {"process": name}, sample.value)
        yield from families.values()


# Collectors are cached, because each reads the boot time when it is created. The kernel may correct that time
# later, and a new collector would then report a different start time for the same process.
@lru_cache(maxsize=256)
def _collector_of(process_id: int) -> ProcessCollector:
    return ProcessCollector(pid=lambda: process_id, registry=None)


class _Children(MultiProcessCollector):
    """Collects the metrics of all child processes, added up."""

    def collect(self) -> Iterable[Metric]:
        """Read the files of all children, including dead ones.

        The process that children are forked from removes its own file (`preloaded`), and the file of a new
        child is empty for a moment. If reading fails for one of these reasons, all files are read again.
        """
        for _ in range(READINGS):
            with suppress(FileNotFoundError, struct.error):
                return self._read()
            time.sleep(PAUSE_SECONDS)
        return self._read()

    def _read(self) -> Iterable[Metric]:
        families: Iterable[Metric] = super().collect()  # type: ignore[no-untyped-call]
        return families


class SharedMetrics:
    """The metrics of several processes, which are served together at `url`."""

    def __init__(self, url: str | None, folder: str | None) -> None:
        self.url = url
        self._folder = folder

    def forget_process(self, pid: int) -> None:
        """Remove the gauges of a process that has ended. Its counters stay in the sums."""
        if self._folder:
            mark_process_dead(pid, self._folder)  # type: ignore[no-untyped-call]


@contextmanager
def share_metrics(
    settings: Settings, children: Callable[[], Mapping[str, int]] = dict
) -> Iterator[SharedMetrics]:
    """Serve the metrics of the child processes that the block starts, which serve no metrics themselves.

    `children` returns the ids of the running children by name.

    prometheus_client reads the folder of the shared files from the environment when it is imported. This
    process has imported it before the folder exists, so children must not be forked from this process.
    """
    if settings.metrics_port is None:
        yield SharedMetrics(None, None)
        return
    with TemporaryDirectory(prefix="monitoring-metrics-") as folder:
        registry = CollectorRegistry()
        _Children(registry, folder)  # type: ignore[no-untyped-call]
        PlatformCollector(registry)
        registry.register(_Processes(children))
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        try:
            with serve_metrics(settings, registry) as url:
                yield SharedMetrics(url, folder)
        finally:
            del os.environ["PROMETHEUS_MULTIPROC_DIR"]
