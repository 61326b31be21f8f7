"""What `monitoring dev` makes on its first start and keeps: secrets, a team, a key, and lines to copy."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from monitoring.auth import service
from monitoring.auth.models import ApiKey
from monitoring.auth.scopes import SCOPES

if TYPE_CHECKING:
    from monitoring.settings import Settings

DEMO_TEAM = "Demo"
SAMPLE_ARTICLE = "docs/examples/article.json"

_GUIDE = """
  Monitoring Service is listening on {base_url}
  Reference   {base_url}/docs
  Blog files  {blog_folder}

  1. Get a token (24 hours):

TOKEN=$(curl -s {base_url}/api/oauth/token -d client_id={client_id} -d client_secret={client_secret} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')

  2. Create a monitor:

curl -s {base_url}/api/monitors -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{{"url":"https://example.com/"}}'

  3. Deliver an article, then ask how its translations are:

ARTICLE=$(curl -s {base_url}/api/webhooks/publisher -H 'X-Webhook-Secret: {webhook_secret}' -H 'Content-Type: application/json' -d @{sample_article} | sed 's/.*"article_id":"\\([^"]*\\)".*/\\1/')
curl -s {base_url}/api/articles/$ARTICLE -H 'X-Webhook-Secret: {webhook_secret}'

  Ctrl-C stops the service; the next start keeps everything.
"""  # noqa: E501 - lines to copy cannot be wrapped


def prepare_environment() -> None:
    """Fill in what a newcomer has not set. Secrets are made once and kept in DATA_DIR, for you alone."""
    folder = Path(os.environ.get("DATA_DIR") or "data").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    kept = {
        "DATA_DIR": str(folder),
        "BLOG_STORAGE_URL": (folder / "blog").as_uri(),
        "TRANSLATOR": "pseudo",
        "SIGNING_KEYS": _keep_secret(folder / "signing_key"),
        "WEBHOOK_SECRETS": _keep_secret(folder / "webhook_secret"),
        "ALLOWED_NETWORKS": "127.0.0.0/8,::1/128",  # to try it out on servers of this machine
    }
    os.environ.update({name: value for name, value in kept.items() if not os.environ.get(name)})


async def ensure_demo_key(settings: Settings) -> tuple[str, str]:
    """Return the demo key's client_id and secret; the first start creates team and key."""
    credentials = settings.data_dir / "demo_key"
    if credentials.exists():
        client_id, _, client_secret = credentials.read_text().strip().partition(" ")
        if client_secret and await ApiKey.exists(client_id=client_id, revoked_at=None):
            return client_id, client_secret
    team = await service.find_team(DEMO_TEAM)
    if team is None:
        plan, max_monitors = next(iter(settings.plans.items()))
        team = await service.create_team(DEMO_TEAM, plan, max_monitors)
    created = await service.create_key(team, "Demo key", SCOPES)
    _write_private(credentials, f"{created.key.client_id} {created.client_secret}\n")
    return created.key.client_id, created.client_secret


def write_guide(settings: Settings, base_url: str, client_id: str, client_secret: str) -> str:
    """Write what a newcomer needs: addresses, and commands to copy and paste."""
    return _GUIDE.format(
        base_url=base_url,
        blog_folder=(settings.blog_storage_url.get_secret_value() if settings.blog_storage_url else "none"),
        client_id=client_id,
        client_secret=client_secret,
        webhook_secret=settings.webhook_secrets[0].get_secret_value(),
        sample_article=SAMPLE_ARTICLE,
    )


def _keep_secret(path: Path) -> str:
    if not path.exists():
        _write_private(path, secrets.token_urlsafe(32))
    return path.read_text().strip()


def _write_private(path: Path, content: str) -> None:
    """Write whole or not at all: a start that is interrupted leaves no empty secret behind."""
    draft = path.with_suffix(".draft")
    draft.touch(mode=0o600)
    draft.write_text(content)
    draft.replace(path)
