"""Handlers that mostly answer with what they were given."""

from typing import Any

from starlette.requests import Request

from monitoring.contract.problems import Problem
from monitoring.web.endpoint import checked_before_body
from monitoring.web.replies import Reply, notes_of
from monitoring.web.routing import operation_of

KNOWN_LOAF_ID = "0192f7a0-7c3b-7c3b-8c3b-0192f7a07c3b"


async def list_loaves(
    limit: int, caller: str, request: Request, oven_number: int | None, tag: tuple[str, ...] = ()
) -> Reply:
    notes_of(request.scope).headers["Baked-For"] = caller
    scope = operation_of(request)["x-required-scope"]
    return Reply({"limit": limit, "tag": tag, "oven": oven_number, "caller": caller, "scope": scope})


async def bake_loaf(body: dict[str, Any]) -> Reply:
    loaf = {**body, "id": KNOWN_LOAF_ID}
    return Reply(loaf, 201, {"Location": f"/loaves/{KNOWN_LOAF_ID}"})


async def get_loaf(loaf_id: str) -> Reply:
    if loaf_id != KNOWN_LOAF_ID:
        raise Problem("loaf_not_found")
    return Reply({"id": loaf_id})


async def eat_loaf() -> Reply:
    return Reply.empty()


async def get_shelf(shelf_number: int) -> Reply:
    return Reply({"shelf_number": shelf_number})


async def print_receipt(body: dict[str, str]) -> Reply:
    return Reply(body)


async def demand_warm_oven(request: Request, caller: str) -> None:
    if "oven-is-cold" in request.headers:
        raise Problem("oven_cold", oven=7, retry_after_seconds=12)
    if caller != "miller":
        raise RuntimeError("security comes before preconditions")


@checked_before_body(demand_warm_oven)
async def accept_delivery(body: dict[str, Any]) -> Reply:
    return Reply(body, 202)


async def serve_burnt(how: str) -> Reply:
    if how == "crash":
        raise RuntimeError("the secret recipe")
    smell = {"Smell": "smoke"}
    burnt = {
        "well": Reply({"size": 1}, headers=smell),
        "as_bytes": Reply(b'{"size": 1}', headers=smell),
        "extra_field": Reply({"size": 1, "secret": 2}, headers=smell),
        "not_json": Reply({"size": {1, 2}}, headers=smell),
        "wrong_bytes": Reply(b'{"size": "x"}', headers=smell),
        "no_header": Reply({"size": 1}),
        "wrong_status": Reply({"size": 1}, 201, smell),
        "wrong_type": Reply("x", headers=smell, media_type="text/plain"),
        "no_body": Reply.empty(200, smell),
    }
    return burnt[how]
