"""blackbox_exporter: `prometheus.yml`, whose jobs have the targets, and `blackbox.yml` with the modules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from monitoring.as_code.importers.drafts import (
    Draft,
    UnreadableImportError,
    read_mapping,
    seconds_of,
    variable,
    write_tags,
)

_FILES = 2
_KNOWN_OF_HTTP = {
    *("method", "valid_status_codes", "headers", "body", "follow_redirects", "tls_config", "basic_auth"),
    *("fail_if_body_matches_regexp", "fail_if_body_not_matches_regexp", "preferred_ip_protocol"),
    *("ip_protocol_fallback", "valid_http_versions", "no_follow_redirects", "fail_if_not_ssl"),
}


def read(files: Sequence[bytes]) -> Iterator[Draft]:
    """Read each static target of each job that asks the exporter."""
    if len(files) != _FILES:
        raise UnreadableImportError("Two files are needed: prometheus.yml and blackbox.yml")
    prometheus = read_mapping(files[0], "scrape_configs")
    modules = read_mapping(files[1], "modules")["modules"]
    default = (prometheus.get("global") or {}).get("scrape_interval", "1m")
    for job in prometheus["scrape_configs"]:
        if job.get("metrics_path") != "/probe":
            continue
        interval = seconds_of(job.get("scrape_interval", default))
        for name in (job.get("params") or {}).get("module") or ["http_2xx"]:
            module = modules.get(name)
            for group in job.get("static_configs") or ():
                for target in group["targets"]:
                    if module is None:
                        yield Draft(str(target), None, [f"the module {name} is not in blackbox.yml"])
                    else:
                        yield _draft(str(target), job, module, interval)
        for kind in job:
            if kind.endswith("_sd_configs"):
                yield Draft(str(job["job_name"]), None, [f"the targets that {kind} finds"])


def _draft(target: str, job: Mapping[str, Any], module: Mapping[str, Any], interval: float) -> Draft:
    prober = module["prober"]
    draft = Draft(target, {"name": target[:100]})
    fields: dict[str, Any] = draft.fields or {}
    own = module.get(prober) or {}
    if prober == "http":
        fields["url"] = target if "://" in target else f"http://{target}"
        _read_http(own, draft, fields)
    elif prober == "tcp":
        fields |= {"type": "tcp", "url": f"tcp://{target}"}
        _read_tcp(own, draft, fields)
    elif prober == "icmp":
        fields |= {"type": "ping", "url": f"ping://{target}"}
    elif prober == "dns":
        fields |= {"type": "dns", "url": f"dns://{str(own['query_name']).rstrip('.')}"}
        fields["dns"] = {"record_type": own.get("query_type", "A")}
        draft.lost.append(f"the name server {target}")
    else:
        return Draft(target, None, [f"the prober {prober} is not known here"])
    draft.set_times(interval, seconds_of(module["timeout"]) if "timeout" in module else None)
    fields["tags"] = write_tags(iter([str(job["job_name"])]))
    return draft


def _read_http(own: Mapping[str, Any], draft: Draft, fields: dict[str, Any]) -> None:
    fields["method"] = own.get("method", "GET")
    if codes := own.get("valid_status_codes"):
        fields["expected_status_codes"] = [str(code) for code in codes]
    if own.get("body"):
        fields["request_body"] = own["body"]
    headers = {
        name: str(value) for name, value in (own.get("headers") or {}).items() if name.lower() != "host"
    }
    if own.get("basic_auth"):
        headers["Authorization"] = variable("monitor", draft.name, "authorization")
        draft.lost.append(
            "the credential: its variable is the whole Authorization, such as Basic dXNlcjpwYXNz"
        )
    if headers:
        fields["request_headers"] = headers
    fields["follow_redirects"] = own.get("follow_redirects", True)
    fields["verify_tls"] = not (own.get("tls_config") or {}).get("insecure_skip_verify")
    for name, comparison in (
        ("fail_if_body_matches_regexp", "not_matches"),
        ("fail_if_body_not_matches_regexp", "matches"),
    ):
        for pattern in own.get(name) or ():
            fields.setdefault("assertions", []).append(
                {"source": "body", "comparison": comparison, "value": pattern}
            )
    draft.lost += [f"the setting {name}" for name in own.keys() - _KNOWN_OF_HTTP]


def _read_tcp(own: Mapping[str, Any], draft: Draft, fields: dict[str, Any]) -> None:
    settings: dict[str, Any] = {"tls": True} if own.get("tls") else {}
    steps = own.get("query_response") or []
    if len(steps) == 1 and "send" in steps[0]:
        settings["send"] = f"{steps[0]['send']}\r\n"
    if steps and (len(steps) > 1 or "expect" in steps[0]):
        draft.lost.append("the dialogue: what is expected here is a text, and there are no further steps")
    if settings:
        fields["tcp"] = settings
