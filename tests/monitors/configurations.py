"""Valid configurations for tests: the defaults, and those that Hypothesis makes up."""

import re
from typing import Any

import trustme
from hypothesis import strategies as st

from monitoring.contract.document import published_document
from monitoring.monitors.client_certificates import show_client_certificate
from monitoring.monitors.configuration import default_configuration
from monitoring.monitors.request_headers import show_headers
from monitoring.monitors.rules import complete

URL = "https://shop.example.com/health"


def configuration_with(**fields: Any) -> dict[str, Any]:
    """Return the default configuration with these fields changed."""
    return complete({"url": URL, **fields}, default_configuration())


_SCHEMAS = published_document().root["components"]["schemas"]
_INVISIBLE = re.compile(_SCHEMAS["NothingVisible"]["pattern"])


def _is_visible(name: str) -> bool:
    return bool(name.strip()) and not _INVISIBLE.search(name)


def as_shown(configuration: dict[str, Any]) -> dict[str, Any]:
    """Return a configuration as answers show it."""
    return {
        **configuration,
        "request_headers": show_headers(configuration["request_headers"]),
        "client_certificate": show_client_certificate(configuration["client_certificate"]),
    }


def _text(max_characters: int, min_characters: int = 0) -> st.SearchStrategy[str]:
    characters = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
    return st.text(characters, min_size=min_characters, max_size=max_characters)


_header_names = st.sampled_from(["Accept", "accept", "ACCEPT"]) | st.from_regex(
    r"X-[A-Za-z0-9-]{1,20}", fullmatch=True
)
_header_values = st.from_regex(r"[\t -~\x80-\xff]{0,40}", fullmatch=True)


def _headers(values: st.SearchStrategy[Any], max_headers: int) -> st.SearchStrategy[dict[str, Any]]:
    headers = st.tuples(_header_names, values)
    return st.lists(headers, unique_by=lambda header: header[0].lower(), max_size=max_headers).map(dict)


_texts = _text(255, 1)
_assertions = st.one_of(
    st.builds(
        lambda path, comparison, value: {
            "source": "json",
            "path": path,
            "comparison": comparison,
            "value": value,
        },
        st.sampled_from(["$", "$.status", "$..id", "$.items[?@.name == 'a b'].n", "$['ä equals b']"]),
        st.sampled_from(["equals", "not_equals", "contains", "not_contains"]),
        _texts | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(-1e9, 1e9),
    ),
    st.builds(
        lambda name, comparison: {"source": "header", "name": name, "comparison": comparison},
        st.sampled_from(["Content-Type", "x_y"]),
        st.sampled_from(["exists", "not_exists"]),
    ),
    st.builds(
        lambda comparison, pattern: {"source": "body", "comparison": comparison, "value": pattern},
        st.sampled_from(["matches", "not_matches"]),
        st.sampled_from(['"ok"', "(?i)fine", "\\d+", "a b", " "]),
    ),
    st.builds(
        lambda value: {"source": "first_byte_ms", "comparison": "less_than", "value": value},
        st.integers(0, 60000),
    ),
)

# Made once: that takes long.
_AUTHORITY = trustme.CA()
CERTIFICATE_AUTHORITY = _AUTHORITY.cert_pem.bytes().decode()
CLIENT_CERTIFICATE = _AUTHORITY.issue_cert("client.example").private_key_and_cert_chain_pem.bytes().decode()

# Values for every field. Any combination of them is valid.
FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "name": _text(100, 1).filter(_is_visible),
    "url": st.builds(
        "{}://{}{}".format,
        st.sampled_from(["http", "https"]),
        st.sampled_from(["shop.example.com", "192.0.2.7:8080", "[2001:db8::7]"]),
        st.sampled_from(["", "/", "/health?deep=%C3%A4", "/ä/日本", "?q='\\\"%25_"]),
    ),
    "method": st.sampled_from(["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]),
    "request_headers": _headers(_header_values, 5),
    "request_body": st.none() | _text(200),
    "expected_status_codes": st.lists(
        st.sampled_from(["204", "2xx", "200-299", "301-301"]), min_size=1, max_size=10
    ),
    "required_keyword": st.none() | _text(255, 1),
    "forbidden_keyword": st.none() | _text(255, 1),
    "assertions": st.lists(_assertions, max_size=10),
    "interval_seconds": st.integers(61, 86400),
    "timeout_seconds": st.integers(1, 60),
    "follow_redirects": st.booleans(),
    "verify_tls": st.booleans(),
    "certificate_authority": st.none() | st.just(CERTIFICATE_AUTHORITY),
    "client_certificate": st.none() | st.just(CLIENT_CERTIFICATE),
    "tls_expiry_warning_days": st.integers(0, 90),
    "slow_threshold_ms": st.none() | st.integers(1, 60000),
    "failure_threshold": st.integers(1, 10),
    "recovery_threshold": st.integers(1, 10),
    "retry_interval_seconds": st.integers(5, 3600),
    "paused": st.booleans(),
    "tags": st.lists(st.from_regex(r"[a-z0-9][a-z0-9_-]{0,39}", fullmatch=True), unique=True, max_size=10),
}

REQUIRED_FIELDS = ("url", "method")  # the default method, GET, allows no body
creations = st.fixed_dictionaries(
    {name: FIELDS[name] for name in REQUIRED_FIELDS},
    optional={name: values for name, values in FIELDS.items() if name not in REQUIRED_FIELDS},
)

patches = st.fixed_dictionaries(
    {},
    optional={
        **{name: st.none() | values for name, values in FIELDS.items()},
        "url": FIELDS["url"],
        "request_headers": st.none() | _headers(st.none() | _header_values, 3),
    },
).filter(bool)
