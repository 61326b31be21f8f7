from __future__ import annotations

from typing import Any

from jobs import Job, judge_jobs

JOB = Job("job 0", "019a9c3e-5b7a-7c1e-9d42-3f8b6a1e2c70", "5bf66975-d4c7-4bf5-bcc8-b8d8a82ea278")
KEPT = [{"monitor_id": JOB.monitor_id, "body": f"job 0, run {number}"} for number in (1, 2, 2)]


def judge(pings: list[dict[str, Any]], *incidents: dict[str, Any]) -> list[str]:
    JOB.answered.clear()
    JOB.answered.extend(["job 0, run 1", "job 0, run 2"])
    return list(judge_jobs([JOB], pings, incidents))


def test_pings_that_are_kept_break_no_promise() -> None:
    assert judge(KEPT) == []


def test_a_ping_that_is_not_kept_breaks_one() -> None:
    assert judge(KEPT[1:]) == ["the ping of job 0, run 1 was answered 200 and is not kept"]


def test_an_incident_of_a_job_that_never_failed_breaks_one() -> None:
    incident = {"monitor_id": JOB.monitor_id, "error_message": "The last ping came at noon"}
    assert judge(KEPT, incident, {**incident, "monitor_id": "another"}) == [
        "job 0 never failed and has an incident: The last ping came at noon"
    ]
