"""Maintenance windows, what of them monitors have spent time in, and the status of monitors in them."""

from tortoise import migrations
from tortoise.migrations import operations as ops
from monitoring.backends.fields import JsonTextField, UtcDatetimeField, uuid7
from tortoise.fields.base import OnDelete
from tortoise import fields
from tortoise.indexes import Index
from tortoise.migrations.schema_editor.base import BaseSchemaEditor
from tortoise.migrations.schema_generator.state import State

# Most watches are in no maintenance. Those are not in the index, so it costs their checks nothing.
INDEX = (
    "CREATE INDEX watches_in_maintenance ON watches (maintenance_until) WHERE maintenance_until IS NOT NULL"
)


class WidenStatus(ops.AlterField):
    """Makes room for `maintenance`. PostgreSQL rewrites nothing for that, and SQLite has no limit to widen."""

    async def database_forward(
        self, app_label: str, old_state: State, new_state: State, state_editor: BaseSchemaEditor | None = None
    ) -> None:
        if state_editor and state_editor.client.capabilities.dialect == "postgres":
            await state_editor.client.execute_script(
                'ALTER TABLE "monitors" ALTER COLUMN "status" TYPE varchar(20)'
            )


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0011_responses_to_incidents")]

    initial = False

    operations = [
        ops.CreateModel(
            name="MaintenanceSpan",
            fields=[
                ("id", fields.UUIDField(primary_key=True, default=uuid7, unique=True, db_index=True)),
                (
                    "monitor",
                    fields.ForeignKeyField(
                        "monitoring.Monitor",
                        source_field="monitor_id",
                        db_constraint=True,
                        to_field="id",
                        related_name="maintenance_spans",
                        on_delete=OnDelete.CASCADE,
                    ),
                ),
                ("starts_at", UtcDatetimeField(auto_now=False, auto_now_add=False)),
                ("ends_at", UtcDatetimeField(auto_now=False, auto_now_add=False)),
            ],
            options={
                "table": "maintenance_spans",
                "app": "monitoring",
                "unique_together": (("monitor_id", "starts_at"),),
                "pk_attr": "id",
                "table_description": "A monitor was in maintenance from `starts_at` until before `ends_at`. Its spans do not overlap.",
            },
            bases=["Model"],
        ),
        ops.CreateModel(
            name="MaintenanceWindow",
            fields=[
                ("id", fields.UUIDField(primary_key=True, default=uuid7, unique=True, db_index=True)),
                (
                    "team",
                    fields.ForeignKeyField(
                        "monitoring.Team",
                        source_field="team_id",
                        db_constraint=True,
                        to_field="id",
                        related_name="maintenance_windows",
                        on_delete=OnDelete.CASCADE,
                    ),
                ),
                ("name", fields.CharField(max_length=100)),
                ("starts_at", UtcDatetimeField(auto_now=False, auto_now_add=False)),
                ("duration_seconds", fields.IntField()),
                ("recurrence", fields.CharField(null=True, max_length=200)),
                ("time_zone", fields.CharField(max_length=64)),
                ("monitor_ids", JsonTextField(generated=False, null=False, unique=False)),
                ("tags", JsonTextField(generated=False, null=False, unique=False)),
                ("ended_at", UtcDatetimeField(null=True, auto_now=False, auto_now_add=False)),
                ("due_at", UtcDatetimeField(null=True, db_index=True, auto_now=False, auto_now_add=False)),
                ("created_at", UtcDatetimeField(auto_now=False, auto_now_add=False)),
                ("updated_at", UtcDatetimeField(auto_now=False, auto_now_add=False)),
            ],
            options={
                "table": "maintenance_windows",
                "app": "monitoring",
                "indexes": [Index(fields=["team_id", "id"])],
                "pk_attr": "id",
                "table_description": "When maintenance begins, how long it lasts, and for which monitors.",
            },
            bases=["Model"],
        ),
        WidenStatus(model_name="Monitor", name="status", field=fields.CharField(max_length=20)),
        ops.AddField(
            model_name="CheckState",
            name="maintenance_from",
            field=UtcDatetimeField(null=True, auto_now=False, auto_now_add=False),
        ),
        ops.AddField(
            model_name="CheckState",
            name="maintenance_until",
            field=UtcDatetimeField(null=True, auto_now=False, auto_now_add=False),
        ),
        ops.RunSQL(INDEX),
    ]
