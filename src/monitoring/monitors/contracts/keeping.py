"""Stores and renders a monitor's contract, and updates a contract after its document has been read again."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from monitoring.backends.encrypted_columns import Encrypted, encrypt_column
from monitoring.backends.encryption import MASK, decrypt, encrypt
from monitoring.contract.document import Json
from monitoring.contract.timestamps import write_timestamp
from monitoring.monitors.models import Monitor

_NOT_SHOWN = ("rules", "read_at")


def store_contract(contract: Mapping[str, Json] | None) -> dict[str, Any]:
    """Return the columns that store a prepared contract; all are null if `contract` is None.

    If `contract` has no `rules`, the contract was not changed, so no columns are returned.
    """
    if contract is None:
        names = (
            "contract",
            "contract_rules",
            "contract_authorization",
            "contract_read_at",
            "contract_problem",
        )
        return dict.fromkeys(names)
    if "rules" not in contract:
        return {}
    authorization = contract.get("document_authorization")
    return {
        "contract": conceal_contract(contract),
        "contract_rules": contract["rules"],
        "contract_authorization": encrypt(authorization) if authorization else None,
        "contract_read_at": datetime.fromisoformat(contract["read_at"]),
        "contract_problem": None,
    }


def is_same_contract(monitor: Monitor, contract: Mapping[str, Json] | None) -> bool:
    """Return whether a contract equals the monitor's contract.

    `contract` may be in the form that responses show, or prepared (with `rules`). Raises
    `UndecryptableError`.
    """
    if contract is None or monitor.contract is None:
        return contract is None and monitor.contract is None
    if "rules" not in contract:
        return _stated(contract) == _stated(monitor.contract)
    stored = monitor.contract_authorization
    return (
        _stated(conceal_contract(contract)) == _stated(monitor.contract)
        and contract["rules"] == monitor.contract_rules
        and contract.get("document_authorization") == (decrypt(stored) if stored else None)
    )


def _stated(contract: Mapping[str, Json] | None) -> dict[str, Json]:
    """Return a contract without null fields, for comparison.

    A contract from a creation request may have null fields, whereas a merge patch removes them.
    """
    return {name: value for name, value in (contract or {}).items() if value is not None}


def conceal_contract(contract: Mapping[str, Json] | None) -> dict[str, Json] | None:
    """Return the visible part of a contract: without rules, and with its credential masked."""
    if contract is None:
        return None
    shown = {name: value for name, value in contract.items() if name not in _NOT_SHOWN}
    return {**shown, **({"document_authorization": MASK} if shown.get("document_authorization") else {})}


def show_contract(row: Mapping[str, Any]) -> dict[str, Json] | None:
    """Render the contract in a monitor's row as the schema `Contract` describes it."""
    contract = row["contract"]
    if contract is None:
        return None
    names = ("document_url", "document_authorization", "operation_id", "parameters")
    return {
        **{name: contract.get(name) for name in names},
        "refresh_interval_seconds": contract["refresh_interval_seconds"],
        "violation": contract["violation"],
        "document_read_at": write_timestamp(row["contract_read_at"]),
        "document_problem": row["contract_problem"],
    }


async def store_refreshed(monitor_id: UUID, rules: Mapping[str, Json], read_at: datetime, seen: str) -> None:
    """Store rules that were read again, unless the stored rules differ from `seen`.

    If the stored rules differ, the contract was changed while its document was being read.
    """
    unchanged = Monitor.filter(id=monitor_id, contract_rules=seen)
    await unchanged.update(
        contract_rules=orjson.dumps(rules).decode(), contract_read_at=read_at, contract_problem=None
    )


async def store_problem(monitor_id: UUID, problem: str) -> None:
    """Record why the document could not be refreshed."""
    await Monitor.filter(id=monitor_id).update(contract_problem=problem)


async def encrypt_contract_authorizations() -> Encrypted:
    """Re-encrypt all credentials for contracts' documents with the first encryption key.

    Return how many rows were re-encrypted, and how many cannot be decrypted.
    """
    return await encrypt_column(Monitor.exclude(contract_authorization=None), "contract_authorization")
