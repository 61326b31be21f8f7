"""The write probe, which tests whether the database accepts writes."""

from __future__ import annotations

from uuid import uuid4

from tortoise import fields
from tortoise.backends.base.client import BaseDBAsyncClient
from tortoise.models import Model

from monitoring.backends.statements import spell

# As many SQLite pages as a request writes: on a nearly full disk, a single page may still fit.
CONTENT_BYTES = 64 * 1024

_WRITE = """
    INSERT INTO write_probes (id, content) VALUES (1, $1)
    ON CONFLICT (id) DO UPDATE SET content = excluded.content
"""


class WriteProbe(Model):
    """The one row that is written to find out whether the database takes writes."""

    id = fields.IntField(primary_key=True)
    content = fields.BinaryField()

    class Meta:
        table = "write_probes"


async def write_probe(connection: BaseDBAsyncClient) -> None:
    """Write and commit the probe row.

    One statement without a transaction, so that a frozen process holds no lock that blocks others. The
    content changes each time, because SQLite does not write unchanged pages.
    """
    content = uuid4().bytes
    await connection.execute_query(spell(connection, _WRITE), [content * (CONTENT_BYTES // len(content))])
