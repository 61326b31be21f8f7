"""Our framework alone: the document's operations, validated in and out, with nothing behind them.

python benchmarks/alone/serve.py
"""

from __future__ import annotations

import copy
import sys
from pathlib import Path
from typing import Any

import uvicorn
import yaml

sys.path.append(str(Path(__file__).parents[1]))  # where `alone` is

from monitoring.cli.stopping import collect_seldom
from monitoring.contract.document import Document, Json, load_document
from monitoring.web.application import ContractApp, build_contract_app
from monitoring.web.endpoint import Act
from monitoring.web.replies import Reply
from monitoring.web.uvicorn_bridge import protocol_for

SERVED = {"/api/monitors": "post", "/api/monitors/{monitor_id}": "get"}


def read_document() -> Document:
    """Keep two operations of the published document, open to everybody."""
    root: dict[str, Any] = copy.deepcopy(dict(load_document().root))
    paths = root["paths"]
    for path_item in paths.values():
        for operation in path_item.values():
            _keep_statuses(operation, root["components"]["responses"])
    root["paths"] = {
        path: {name: part for name, part in paths[path].items() if name in ("parameters", method)}
        for path, method in SERVED.items()
    }
    for path, method in SERVED.items():
        root["paths"][path][method]["security"] = []
        for answer in root["paths"][path][method]["responses"].values():
            answer.get("headers", {}).pop("RateLimit", None)
            answer.get("headers", {}).pop("RateLimit-Policy", None)
    del root["components"]["securitySchemes"]
    return Document(yaml.safe_dump(root, sort_keys=False).encode())


def _keep_statuses(operation: Any, responses: dict[str, Any]) -> None:
    """Note the status of each shared response, because operations that are left out use some of them."""
    for status, response in operation.get("responses", {}).items() if isinstance(operation, dict) else ():
        if "$ref" in response:
            responses[response["$ref"].rpartition("/")[2]].setdefault("x-status", int(status))


def build() -> ContractApp:
    """Build the application."""
    return build_contract_app(
        read_document(),
        security_map={},
        max_body_bytes=1_048_576,
        idempotency=act_always,
        handlers_package="alone",
    )


async def act_always(_caller: object, _key: str | None, _request: tuple[Json, ...], act: Act) -> Reply:
    """Act, because nothing is stored."""
    return await act()


def main() -> None:
    """Serve until stopped, as `monitoring serve` does."""
    app = build()
    collect_seldom()
    uvicorn.run(
        app,
        port=0,
        http=protocol_for(app.catalogue),
        ws="none",
        loop="uvloop",
        lifespan="on",
        access_log=False,
        server_header=False,
        proxy_headers=False,
    )


if __name__ == "__main__":
    main()
