"""Jobs that never fail, and tell heartbeats so. A ping that was answered 200 is kept; no job is accused."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from monitoring.checks.heartbeats.pings import KEPT_PINGS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from threading import Event

    from replicas import Replicas

JOBS = 4
PAUSE_SECONDS = 3.0

# A ping is repeated until it is answered, which takes as long as the database is away. A run that is accused
# of silence was accused of ours.
SCHEDULE = {"period_seconds": 30, "grace_seconds": 30}


@dataclass
class Job:
    """A job, its heartbeat, and the runs whose end was answered 200."""

    name: str
    monitor_id: str
    token: str
    answered: deque[str] = field(default_factory=lambda: deque(maxlen=KEPT_PINGS // 2))


# A job that has been silent for longer is late.
SILENCE_SECONDS = float(SCHEDULE["period_seconds"] + SCHEDULE["grace_seconds"])
LOOKING_SECONDS = 60.0


class Jobs:
    """Has each job run again and again."""

    def __init__(self, replicas: Replicas, headers: dict[str, str]) -> None:
        self._replicas = replicas
        self._headers = headers
        self.all: list[Job] = []

    def begin(self) -> None:
        """Create a heartbeat for each job."""
        for number in range(JOBS):
            body = {"type": "heartbeat", "name": f"job {number}", "heartbeat": SCHEDULE}
            headers = self._headers | {"Idempotency-Key": f"job-{number}"}
            monitor = self._replicas.insist("create_monitor", "201", headers=headers, json=body).json()
            self.all.append(Job(monitor["name"], monitor["id"], monitor["ping_url"].rpartition("/")[2]))

    def run(self, job: Job, over: Event) -> None:
        """Run the job until everything is over, and tell that each run has ended."""
        number = 0
        while not over.wait(PAUSE_SECONDS):
            number += 1
            said, begun = f"{job.name}, run {number}", time.monotonic()
            self._replicas.insist("report_success", "200", ids={"token": job.token}, content=said)
            self._replicas.journal.took("a ping, until it was answered", time.monotonic() - begun)
            job.answered.append(said)
            self._replicas.journal.count("Watched", "pings answered 200")

    def wait_until_excused(self) -> None:
        """Wait until the service has seen that the pings are missing, and says that it cannot know why."""
        deadline = time.monotonic() + LOOKING_SECONDS
        waiting = {job.monitor_id: job.name for job in self.all}
        while waiting and time.monotonic() < deadline:
            time.sleep(0.5)
            for monitor_id in list(waiting):
                ids = {"monitor_id": monitor_id}
                answer = self._replicas.insist("get_monitor", "200", ids=ids, headers=self._headers)
                if answer.json()["status"] == "unknown":
                    del waiting[monitor_id]
        for name in waiting.values():
            self._replicas.journal.record_violation(
                f"{name} was silent while nobody could hear it, unnoticed"
            )


def judge_jobs(
    jobs: Sequence[Job], pings: Sequence[Mapping[str, Any]], incidents: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Yield a sentence for every ping that was promised and is not kept, and for every job that was accused.

    A ping may be kept more than once: who gets no answer sends it again.
    """
    for job in jobs:
        kept = {ping["body"] for ping in pings if str(ping["monitor_id"]) == job.monitor_id}
        for said in job.answered:
            if said not in kept:
                yield f"the ping of {said} was answered 200 and is not kept"
        for incident in incidents:
            if str(incident["monitor_id"]) == job.monitor_id:
                yield f"{job.name} never failed and has an incident: {incident['error_message']}"
