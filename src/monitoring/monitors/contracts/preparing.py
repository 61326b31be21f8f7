"""Prepares a monitor's contract before it is stored: reads the contract's document, and finds its rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn
from uuid import UUID

import orjson

from monitoring.auth.sandboxes import is_sandbox
from monitoring.backends.current import current_backends
from monitoring.backends.encryption import MASK, decrypt
from monitoring.contract.configurations import read_defaults
from monitoring.contract.document import Json
from monitoring.contract.problems import Problem
from monitoring.monitors.contracts.addresses import MissingParameterError, write_address
from monitoring.monitors.contracts.documents import UnusableDocumentError
from monitoring.monitors.contracts.fetching import UnfetchedDocumentError, fetch_rules
from monitoring.monitors.contracts.isolation import find_rules_apart, wait_apart
from monitoring.monitors.contracts.keeping import is_same_contract
from monitoring.monitors.models import Monitor
from monitoring.outbound.dialer import open_configured_dialer
from monitoring.outbound.scripted_web import open_scripted_dialer

_SCHEMA = "ContractCreate"


async def prepare_contract(
    team_id: UUID, given: Mapping[str, Json], saved: Monitor | None = None
) -> Mapping[str, Json]:
    """Return a request body, `given`, with its contract's document replaced by `rules` (JSON).

    `given` creates a monitor or, if `saved` is not None, is a merge patch (RFC 7396) for `saved`, which also
    applies to the contract of `saved`. Nothing is fetched if the contract equals the saved contract, or if
    monitors of this type cannot have a contract. In a sandbox, documents come from scripted hosts. Raises
    Problem for a document that cannot be fetched or used.
    """
    asked = given.get("contract")
    if asked == {}:  # an empty patch
        return {name: value for name, value in given.items() if name != "contract"}
    if asked is None or (saved and saved.type != "http"):
        return given
    contract = _complete(asked, saved.contract if saved else None)
    document = contract.pop("document")
    is_sent_back = saved and saved.contract_rules and document is None and is_same_contract(saved, contract)
    authorization = contract.get("document_authorization")
    if authorization == MASK:
        stored = saved.contract_authorization if saved else None
        if stored is None:
            raise Problem("contract_authorization_masked")
        authorization = contract["document_authorization"] = decrypt(stored)
    if saved and is_sent_back:
        rules, read_at = orjson.loads(saved.contract_rules or ""), saved.contract_read_at
    else:
        rules = await _find_rules(team_id, contract, document, authorization, saved)
        read_at = current_backends().clock.now()
    method = given.get("method") or (saved.method if saved else "GET")
    if rules["method"] != method:
        raise Problem("contract_method", method=rules["method"])
    try:
        write_address("https://a.example", rules["path"], contract.get("parameters"))
    except MissingParameterError as error:
        raise Problem("contract_parameter_missing", name=error.name) from None
    found = {"rules": orjson.dumps(rules).decode(), "read_at": str(read_at)}
    return {**given, "contract": {**contract, **found}}


async def prepare_placed_contract(
    team_id: UUID, given: Mapping[str, Json], saved: Monitor | None
) -> Mapping[str, Json]:
    """Prepare the contract of `given`, a configuration that completely replaces that of `saved` (PUT).

    If `given` omits the credential for the contract's document, the saved credential is kept. A client may
    not know this credential, because no response shows it.
    """
    if (contract := given.get("contract")) is None:
        return given
    kept = {"document_authorization": MASK} if saved and saved.contract_authorization else {}
    whole = {**read_defaults(_SCHEMA), **kept, **contract}
    return await prepare_contract(team_id, {"method": "GET", **given, "contract": whole}, saved)


def _complete(asked: Mapping[str, Json], saved: Mapping[str, Json] | None) -> dict[str, Json]:
    kept = dict(saved or {})
    for other, name in (("document", "document_url"), ("document_url", "document")):
        if asked.get(name) is not None:
            kept.pop(other, None)
    merged = {**kept, **asked}
    named = {name: value for name, value in merged.items() if value is not None}
    return {**read_defaults(_SCHEMA), **named}


async def _find_rules(
    team_id: UUID,
    contract: Mapping[str, Json],
    document: Json,
    authorization: str | None,
    saved: Monitor | None,
) -> Mapping[str, Json]:
    operation_id = contract.get("operation_id")
    if operation_id is None:
        raise Problem("contract_incomplete", field="operation_id")
    try:
        if url := contract.get("document_url"):
            settings = current_backends().settings
            is_scripted = await is_sandbox(team_id)
            async with open_scripted_dialer() if is_scripted else open_configured_dialer(settings) as dialer:
                return await fetch_rules(dialer, url, authorization, operation_id)
        if document is not None:
            return await wait_apart(find_rules_apart, document, operation_id)
    except UnfetchedDocumentError as error:
        raise Problem("contract_document_not_fetched", reason=error.reason) from None
    except UnusableDocumentError as error:
        _refuse(error.reason)
    rules: dict[str, Json] = orjson.loads(saved.contract_rules) if saved and saved.contract_rules else {}
    if rules.get("operation_id") != operation_id:
        raise Problem("contract_incomplete", field="document")
    return rules


def _refuse(reason: str) -> NoReturn:
    match reason:
        case "operation_unknown":
            raise Problem("contract_operation_unknown")
        case "reference_outside":
            raise Problem("contract_reference_outside")
        case "too_large":
            raise Problem("contract_too_large")
        case _:
            raise Problem("contract_unreadable")
