"""Docs checks: what README and docs say about settings and files is what the project has."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from monitoring.settings.description import describe_settings

ROOT = Path(__file__).parent.parent
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("contract-tests/*.md")]
SETTINGS_PAGE = ROOT / "docs" / "settings.md"
LINK = re.compile(r"\]\((?!https?://|#|mailto:)([^)#\s]+)")
VARIABLE = re.compile(r"(?<!\.)\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")

# Not the service's own: of clouds, of OpenSSL, of OpenTelemetry's SDK, of compose.yaml, of fault runs, of
# fuzzing, of `make bench`, of a reader's shell, of SDKs, of sockets.
FOREIGN = re.compile(
    r"(AWS|AZURE|GOOGLE|OTEL)_.*|POSTGRES_PASSWORD|VALKEY_PASSWORD|S3_.*|IMAGE_.*|OPENSSL_CONF|FAULT_.*|FUZZING_.*"
    r"|CLIENT_(ID|SECRET)|PING_URL|SERVICE_RESULT"
    r"|SO_REUSEPORT|MEASURED_PYTHON|UPTIME_KUMA|INCIDENT_OPENED|MONITORING_(URL|TOKEN|API_KEY|WEBHOOK_SECRET)"
    r"|OPS_URL|TEST_TOKEN|MONITOR_SHOP_AUTHORIZATION|RESPONSE_TIME"
)


def find_problems() -> list[str]:
    """Return one line a problem."""
    return [
        *_find_broken_links(),
        *_find_settings_that_differ(),
        *_find_unknown_variables(),
        *_find_pictures_nobody_shows(),
    ]


def write_settings_table() -> str:
    """Write the table that docs/settings.md carries."""
    rows = [f"| `{row.name}` | {_code(row.default)} | {row.meaning} |" for row in describe_settings()]
    return "\n".join(["| variable | default | meaning |", "|---|---|---|", *rows])


def _find_broken_links() -> list[str]:
    return [
        f"{page.relative_to(ROOT)}: link to {target} leads nowhere"
        for page in PAGES
        for target in LINK.findall(page.read_text())
        if not (page.parent / target).exists()
    ]


def _find_settings_that_differ() -> list[str]:
    table = write_settings_table()
    problems = [
        f"README.md: the row of {line.split('`')[1]} differs from the one in docs/settings.md"
        for line in (ROOT / "README.md").read_text().splitlines()
        if line.startswith("| `") and line not in table.splitlines()
    ]
    if table not in SETTINGS_PAGE.read_text():
        problems.append("docs/settings.md: the table is not what `python docs/check.py --settings` prints")
    return problems


def _find_unknown_variables() -> list[str]:
    known = {row.name for row in describe_settings()}
    return [
        f"{page.relative_to(ROOT)}: there is no setting {name}"
        for page in PAGES
        for name in sorted(set(VARIABLE.findall(page.read_text())) - known)
        if not FOREIGN.fullmatch(name)
    ]


def _find_pictures_nobody_shows() -> list[str]:
    shown = {(page.parent / target).resolve() for page in PAGES for target in LINK.findall(page.read_text())}
    return [
        f"{picture.relative_to(ROOT)}: no page shows it"
        for picture in sorted((ROOT / "docs" / "screenshots").iterdir())
        if picture not in shown
    ]


def _code(text: str) -> str:
    return f"`{text}`" if text and text != "required" else text


if __name__ == "__main__":
    if "--settings" in sys.argv:
        print(write_settings_table())
    elif problems := find_problems():
        sys.exit("\n".join(problems))
