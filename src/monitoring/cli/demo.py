"""Creates what `monitoring dev` needs at its first start: secrets, a team, a key and an invitation code.

It also renders a guide with commands to copy.
"""

from __future__ import annotations

import logging
import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from pathlib import Path

from monitoring.audit.actors import COMMAND_LINE
from monitoring.auth import service
from monitoring.auth.models import ApiKey, Team
from monitoring.auth.scopes import SCOPES
from monitoring.auth.signing_keys import Algorithm, generate_signing_key
from monitoring.backends.encryption import generate_encryption_key
from monitoring.members.invitations import find_invitation, invite
from monitoring.members.models import Role
from monitoring.members.service import list_members
from monitoring.settings import Settings
from monitoring.settings.private_keys import claims_to_be_private_key

log = logging.getLogger(__name__)

DEMO_TEAM = "Demo"
DEMO_EMAIL = "demo@example.com"
SAMPLE_ARTICLE = '{"article":{"slug":"hello","title":"Hello","content":"<p>Hello, world.</p>"}}'

_GUIDE = """
  Monitoring Service is listening on {base_url}
  The app     {base_url}/app
{joining}  Reference   {base_url}/docs
  Blog files  {blog_folder}

  1. Get a token (24 hours):

TOKEN=$(curl -s {base_url}/api/oauth/token -d client_id={client_id} -d client_secret={client_secret} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')

  2. Create a monitor:

curl -s {base_url}/api/monitors -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{{"url":"https://example.com/"}}'

  3. Deliver an article, then ask how its translations are:

ARTICLE=$(curl -s {base_url}/api/webhooks/publisher -H 'X-Webhook-Secret: {webhook_secret}' -H 'Content-Type: application/json' -d '{sample_article}' | sed 's/.*"article_id":"\\([^"]*\\)".*/\\1/')
curl -s {base_url}/api/articles/$ARTICLE -H 'X-Webhook-Secret: {webhook_secret}'

  Ctrl-C stops the service; the next start keeps everything.
"""  # noqa: E501 - lines to copy cannot be wrapped

_JOINING = """\
    To join as {email}: open {base_url}/app/join and enter
    {code}
"""


@dataclass(frozen=True, slots=True)
class Demo:
    """The demo team's key and invitation code. `invitation_code` is None once a user has joined."""

    client_id: str
    client_secret: str
    invitation_code: str | None


def prepare_environment() -> None:
    """Set missing environment variables. Secrets are generated once, and stored in DATA_DIR.

    Only the owner can read the files of the secrets.
    """
    folder = Path(os.environ.get("DATA_DIR") or "data").resolve()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    kept = {
        "DATA_DIR": str(folder),
        "BLOG_STORAGE_URL": (folder / "blog").as_uri(),
        "TRANSLATOR": "pseudo",
        "SIGNING_KEYS": _keep_signing_keys(folder / "signing_key"),
        "ENCRYPTION_KEYS": _keep_secret(folder / "encryption_key", generate_encryption_key),
        "WEBHOOK_SECRETS": _keep_secret(folder / "webhook_secret"),
        "ALLOWED_NETWORKS": "127.0.0.0/8,::1/128",  # to monitor servers on this machine
        "SESSION_COOKIE_SECURE": "false",  # the app is served at http://
        "ARTICLE_TEAMS": DEMO_TEAM,
    }
    os.environ.update({name: value for name, value in kept.items() if not os.environ.get(name)})


def warn_of_exposure(settings: Settings) -> None:
    """Log a warning if other machines can reach the service and, through monitors, this machine's servers."""
    opens_loopback = any(ip_network(each).is_loopback for each in settings.allowed_networks)
    if _is_loopback(settings.host) or not opens_loopback:
        return
    log.warning(
        "HOST is %s: anyone who can reach this service and has a key can check servers on this "
        "machine's loopback addresses, because ALLOWED_NETWORKS contains them. To prevent this, set "
        "ALLOWED_NETWORKS to other networks",
        settings.host,
    )


async def ensure_demo(settings: Settings) -> Demo:
    """Return the demo team's key and invitation code. The first start creates them."""
    team = await service.find_team(DEMO_TEAM)
    if team is None:
        plan, max_monitors = next(iter(settings.plans.items()))
        team = await service.create_team(DEMO_TEAM, plan, max_monitors)
    client_id, client_secret = await _ensure_key(team, settings.data_dir / "demo_key")
    return Demo(client_id, client_secret, await _ensure_invitation(team, settings.data_dir / "invitation"))


def write_guide(settings: Settings, base_url: str, demo: Demo) -> str:
    """Return the text that is printed at the start: URLs, and commands to copy and paste."""
    code = demo.invitation_code
    return _GUIDE.format(
        base_url=base_url,
        joining=_JOINING.format(base_url=base_url, email=DEMO_EMAIL, code=code) if code else "",
        blog_folder=(settings.blog_storage_url.get_secret_value() if settings.blog_storage_url else "none"),
        client_id=demo.client_id,
        client_secret=demo.client_secret,
        webhook_secret=settings.webhook_secrets[0].get_secret_value(),
        sample_article=SAMPLE_ARTICLE,
    )


async def _ensure_key(team: Team, path: Path) -> tuple[str, str]:
    client_id, _, client_secret = _read_kept(path).partition(" ")
    if client_secret and await ApiKey.exists(client_id=client_id, revoked_at=None):
        return client_id, client_secret
    created = await service.create_key(team, "Demo key", SCOPES)
    _write_private(path, f"{created.key.client_id} {created.client_secret}\n")
    return created.key.client_id, created.client_secret


async def _ensure_invitation(team: Team, path: Path) -> str | None:
    """Return a valid invitation code, or None once a user has joined. A used or expired code is replaced."""
    if await list_members(team.id):
        _forget(path)
        return None
    code = _read_kept(path)
    if not await find_invitation(code):
        code = (await invite(team.id, DEMO_EMAIL, Role.OWNER, by=COMMAND_LINE)).code
        _write_private(path, f"{code}\n")
    return code


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _keep_secret(path: Path, generate: Callable[[], str] = lambda: secrets.token_urlsafe(32)) -> str:
    if not path.exists():
        _write_private(path, generate())
    return _read_kept(path)


def _keep_signing_keys(path: Path) -> str:
    """Return the value of SIGNING_KEYS: a private key that is generated once.

    If an earlier version stored a secret, the value also contains that secret, so that tokens signed with it
    remain valid.
    """
    kept = _read_kept(path)
    if not claims_to_be_private_key(kept):
        new_key = generate_signing_key(Algorithm.RS256)
        _write_private(path, f"{new_key},{kept}" if kept else new_key)
    return _read_kept(path)


def _read_kept(path: Path) -> str:
    """Return the content of a file without surrounding whitespace. Empty if the file does not exist."""
    return path.read_text().strip() if path.exists() else ""


def _forget(path: Path) -> None:
    path.unlink(missing_ok=True)


def _write_private(path: Path, content: str) -> None:
    """Write a file atomically, so that an interrupted start leaves no empty secret behind."""
    draft = path.with_suffix(".draft")
    draft.touch(mode=0o600)
    draft.write_text(content)
    draft.replace(path)
