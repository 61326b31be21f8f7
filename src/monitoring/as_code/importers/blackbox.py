"""Imports from blackbox_exporter. The file `prometheus.yml` lists the targets, `blackbox.yml` the modules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from monitoring.as_code.importers.drafts import (
    Draft,
    UnreadableImportError,
    read_mapping,
    seconds_of,
    without_login,
    write_tags,
)

_FILES = 2
_LOGINS = ("basic_auth", "authorization", "bearer_token", "bearer_token_file")
_KNOWN_OF_HTTP = {
    *_LOGINS,
    *("method", "valid_status_codes", "headers", "body", "follow_redirects", "tls_config"),
    *("fail_if_body_matches_regexp", "fail_if_body_not_matches_regexp", "no_follow_redirects"),
}


def read(files: Sequence[bytes]) -> Iterator[Draft]:
    """Yield every static target of every job that uses the exporter."""
    if len(files) != _FILES:
        raise UnreadableImportError("Two files are needed: prometheus.yml and blackbox.yml")
    prometheus = read_mapping(files[0], "scrape_configs")
    modules = read_mapping(files[1], "modules")["modules"]
    default = (prometheus.get("global") or {}).get("scrape_interval", "1m")
    for job in prometheus["scrape_configs"]:
        if str(job.get("metrics_path")).endswith("probe"):
            yield from _read_job(job, modules, seconds_of(job.get("scrape_interval", default)))


def _read_job(job: Mapping[str, Any], modules: Mapping[str, Any], interval: float) -> Iterator[Draft]:
    for name in (job.get("params") or {}).get("module") or ["http_2xx"]:
        for group in job.get("static_configs") or ():
            tags = write_tags([job["job_name"], *(group.get("labels") or {}).values()])
            for target in map(str, group["targets"]):
                if module := modules.get(name):
                    yield _draft(target, module, interval, tags)
                else:
                    lost = [f"the module {name} is not in blackbox.yml"]
                    yield Draft(without_login(target), lost=lost)
    for kind in job:
        if kind.endswith("_sd_configs"):
            yield Draft(str(job["job_name"]), lost=[f"the targets that {kind} discovers"])


def _draft(target: str, module: Mapping[str, Any], interval: float, tags: list[str]) -> Draft:
    prober = module["prober"]
    draft = Draft(without_login(target))
    fields = draft.fields
    own = module.get(prober) or {}
    if prober == "http":
        _read_http(target if "://" in target else f"http://{target}", own, draft)
    elif prober == "tcp":
        fields |= {"type": "tcp", "url": f"tcp://{target}"}
        _read_tcp(own, draft)
    elif prober == "icmp":
        fields |= {"type": "ping", "url": f"ping://{target}"}
        draft.lose_others(own, ())
    elif prober == "dns":
        fields |= {"type": "dns", "url": f"dns://{str(own['query_name']).rstrip('.')}"}
        fields["dns"] = {"record_type": own.get("query_type", "A")}
        draft.lost.append(f"the name server {target}")
        draft.lose_others(own, {"query_name", "query_type"})
    else:
        return Draft(draft.name, lost=[f"the prober {prober} is not supported"])
    fields["tags"] = tags
    draft.set_times(interval, seconds_of(module["timeout"]) if "timeout" in module else None)
    return draft


def _read_http(url: str, own: Mapping[str, Any], draft: Draft) -> None:
    draft.set_request(url, own.get("headers") or {}, has_login=any(own.get(each) for each in _LOGINS))
    fields = draft.fields
    fields["method"] = own.get("method", "GET")
    if codes := own.get("valid_status_codes"):
        fields["expected_status_codes"] = [str(code) for code in codes]
    if own.get("body"):
        fields["request_body"] = own["body"]
    fields["follow_redirects"] = own.get("follow_redirects", not own.get("no_follow_redirects"))
    _read_tls(own, draft)
    for name, comparison in (
        ("fail_if_body_matches_regexp", "not_matches"),
        ("fail_if_body_not_matches_regexp", "matches"),
    ):
        for pattern in own.get(name) or ():
            fields.setdefault("assertions", []).append(
                {"source": "body", "comparison": comparison, "value": pattern}
            )
    draft.lose_others(own, _KNOWN_OF_HTTP)


def _read_tls(own: Mapping[str, Any], draft: Draft) -> None:
    settings = own.get("tls_config") or {}
    draft.fields["verify_tls"] = not settings.get("insecure_skip_verify")
    draft.lose_others(settings, {"insecure_skip_verify"})


def _read_tcp(own: Mapping[str, Any], draft: Draft) -> None:
    settings: dict[str, Any] = {"tls": True} if own.get("tls") else {}
    steps = own.get("query_response") or []
    if len(steps) == 1 and "send" in steps[0]:
        settings["send"] = f"{steps[0]['send']}\r\n"
    if steps and (len(steps) > 1 or "expect" in steps[0]):
        draft.lost.append(
            "query_response: a tcp monitor expects a text, not a pattern, and sends only one text"
        )
    if settings:
        draft.fields["tcp"] = settings
    if own.get("tls"):
        _read_tls(own, draft)
    draft.lose_others(own, {"tls", "tls_config", "query_response"})
