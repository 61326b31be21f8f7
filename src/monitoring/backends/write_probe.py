"""The row that is written to test whether the database accepts writes."""

from __future__ import annotations

from uuid import uuid4

from tortoise import fields
from tortoise.backends.base.client import BaseDBAsyncClient
from tortoise.models import Model

from monitoring.backends.statements import spell

# As many pages of SQLite as a request writes: where these do not fit, a single one may.
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
    """Write the row and commit it.

    It is one statement and no transaction, so that a frozen process keeps no lock that others wait for. The
    content is new each time, because SQLite does not write unchanged pages.
    """
    content = uuid4().bytes
    await connection.execute_query(spell(connection, _WRITE), [content * (CONTENT_BYTES // len(content))])
