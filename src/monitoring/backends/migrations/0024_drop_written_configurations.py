"""Drops what kept a monitor's configuration as JSON beside its columns, and a note that spared a query."""

from tortoise import migrations
from tortoise.migrations import operations as ops
from tortoise.migrations.schema_editor.base import BaseSchemaEditor


async def drop_written_configurations(_apps: object, editor: BaseSchemaEditor) -> None:
    """Drop the generated column of PostgreSQL, and the function that wrote it."""
    if editor.client.capabilities.dialect == "postgres":
        await editor.client.execute_query("ALTER TABLE monitors DROP COLUMN written_configuration")
        await editor.client.execute_query("DROP FUNCTION write_monitor_configuration")


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0023_configurations_by_a_function")]

    operations = [
        ops.RunPython(drop_written_configurations, ops.RunPython.noop),
        ops.RemoveField(model_name="Team", name="may_have_maintenance"),
    ]
