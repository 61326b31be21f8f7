"""What Tortoise's models cannot say: results partitioned by day, and one open incident a monitor."""

from tortoise import migrations
from tortoise.migrations import operations as ops
from tortoise.migrations.schema_editor.base import BaseSchemaEditor

_COLUMNS = """
    monitor_id {uuid} NOT NULL,
    checked_at {moment} NOT NULL,
    outcome VARCHAR(10) NOT NULL,
    status_code SMALLINT,
    response_time_ms INT,
    dns_ms INT,
    connect_ms INT,
    tls_ms INT,
    first_byte_ms INT,
    error VARCHAR(32),
    error_message VARCHAR(255),
    PRIMARY KEY (monitor_id, checked_at)
"""


async def create_checks(_apps: object, editor: BaseSchemaEditor) -> None:
    """Make the table. On PostgreSQL its partitions are made as days come (monitoring.history.queries)."""
    if editor.client.capabilities.dialect == "postgres":
        columns = _COLUMNS.format(uuid="UUID", moment="TIMESTAMPTZ")
        await editor.client.execute_query(f"CREATE TABLE checks ({columns}) PARTITION BY RANGE (checked_at)")
        return
    columns = _COLUMNS.format(uuid="CHAR(36)", moment="TIMESTAMP")
    await editor.client.execute_query(f"CREATE TABLE checks ({columns}) WITHOUT ROWID")
    await editor.client.execute_query("CREATE INDEX checks_checked_at ON checks (checked_at)")


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0001_initial")]

    operations = [
        ops.RunPython(create_checks, ops.RunPython.noop),
        ops.RunSQL(
            "CREATE UNIQUE INDEX one_open_incident ON incidents (monitor_id) WHERE resolved_at IS NULL"
        ),
        ops.RunSQL("CREATE INDEX open_incidents ON incidents (team_id, id) WHERE resolved_at IS NULL"),
    ]
