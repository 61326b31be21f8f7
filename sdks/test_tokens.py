"""Tokens as strangers verify them: clients from npm, unmodified, against what `make run` starts."""

from __future__ import annotations

import json
import os
import re
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from building import BUILD, ROOT, SDKS
from monitoring.auth.signing_keys import Algorithm, generate_signing_key
from real_servers import find_free_port
from service_process import MONITORING, TIMEOUT_SECONDS, wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def running(folder: Path, **environment: str) -> Iterator[dict[str, str]]:
    """Start the service as a newcomer does; give what its first client has to know."""
    base_url, log = f"http://127.0.0.1:{(port := find_free_port())}", folder / "log"
    with log.open("w") as output:
        service = subprocess.Popen(
            [*MONITORING, "dev"],
            cwd=folder,
            env={"PATH": os.environ["PATH"], "PORT": str(port), "CHECKS_AT_ONCE": "0"} | environment,
            stdout=output,
            stderr=output,
        )
    try:
        wait_until(lambda: "listening on" in log.read_text() or service.poll() is not None)
        assert service.poll() is None, log.read_text()
        client_id, client_secret = (folder / "data" / "demo_key").read_text().split()
        yield {"BASE_URL": base_url, "CLIENT_ID": client_id, "CLIENT_SECRET": client_secret}
    finally:
        service.kill()
        service.wait(TIMEOUT_SECONDS)


def run_javascript(code: str, given: dict[str, str]) -> Any:
    done = subprocess.run(
        ["node", "--input-type=module", "-e", code],
        cwd=BUILD,  # where the packages are
        env={"PATH": os.environ["PATH"]} | given,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("algorithm", [None, *Algorithm], ids=["as it is made", *Algorithm])
def test_a_token_is_verified_and_given_up(algorithm: Algorithm | None, tmp_path: Path) -> None:
    settings = {"SIGNING_KEYS": generate_signing_key(algorithm)} if algorithm else {}
    with running(tmp_path, **settings) as given:
        found = run_javascript((SDKS / "journeys" / "tokens.mjs").read_text(), given)
    assert found["algorithm"] == (algorithm or "RS256")
    claims = found["claims"]
    assert (claims["iss"], claims["aud"]) == (given["BASE_URL"], "monitoring-api")
    assert claims["client_id"] == claims["sub"] == given["CLIENT_ID"]
    assert claims["scope"] == "monitors:read"
    assert found["before"] == claims | {"active": True, "token_type": "Bearer"}
    assert (found["isRefusedForOthers"], found["isRefusedWhenChanged"]) == (True, True)
    assert (found["statusBefore"], found["statusAfter"]) == (200, 401)
    assert found["after"] == found["again"] == {"active": False}
    assert found["isValidOffline"], "the guide says that a verifier does not learn of revocations"


def test_the_guides_code_verifies_a_token_and_nothing_else(tmp_path: Path) -> None:
    guide = (ROOT / "docs" / "guides" / "authentication.md").read_text()
    (code,) = re.findall(r"^```javascript\n(.*?)^```", guide, re.DOTALL | re.MULTILINE)
    call = """
const ask = (token) => verify(new Request(issuer, { headers: { Authorization: `Bearer ${token}` } }));
const isRefused = (token) => ask(token).then(() => false, () => true);
const token = process.env.TOKEN;
const clientId = (await ask(token)).client_id;
console.log(JSON.stringify([clientId, await isRefused(`${token}x`), await isRefused("x")]));
"""
    with running(tmp_path) as given:
        credentials = (given["CLIENT_ID"], given["CLIENT_SECRET"])
        answer = httpx.post(f"{given['BASE_URL']}/api/oauth/token", auth=credentials, timeout=30)
        environment = {"URL": given["BASE_URL"], "TOKEN": answer.json()["access_token"]}
        assert run_javascript(code + call, environment) == [given["CLIENT_ID"], True, True]
