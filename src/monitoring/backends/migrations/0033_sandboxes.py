from tortoise import migrations
from tortoise.migrations import operations as ops
from monitoring.backends.fields import JsonTextField, UtcDatetimeField, uuid7
from tortoise.fields.base import OnDelete
from tortoise import fields


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0032_contracts_of_monitors")]

    initial = False

    operations = [
        ops.CreateModel(
            name="KeptRequest",
            fields=[
                ("id", fields.UUIDField(primary_key=True, default=uuid7, unique=True, db_index=True)),
                (
                    "delivery",
                    fields.OneToOneField(
                        "monitoring.NotificationDelivery",
                        source_field="delivery_id",
                        db_constraint=True,
                        to_field="id",
                        related_name="kept_request",
                        on_delete=OnDelete.CASCADE,
                    ),
                ),
                ("request", JsonTextField(generated=False, null=False, unique=False)),
            ],
            options={
                "table": "kept_requests",
                "app": "monitoring",
                "pk_attr": "id",
                "table_description": "What a sandbox would have sent for a delivery: the request of the last attempt, without secrets.",
            },
            bases=["Model"],
        ),
        ops.AddField(
            model_name="Team",
            name="sandbox_of",
            field=fields.ForeignKeyField(
                "monitoring.Team",
                source_field="sandbox_of_id",
                null=True,
                db_constraint=True,
                to_field="id",
                related_name="sandboxes",
                on_delete=OnDelete.CASCADE,
            ),
        ),
        ops.AddField(
            model_name="Team",
            name="sandbox_used_at",
            field=UtcDatetimeField(null=True, auto_now=False, auto_now_add=False),
        ),
        # SQLite adds no column that is unique.
        ops.RunSQL(
            sql="CREATE UNIQUE INDEX IF NOT EXISTS sandbox_of_a_team ON teams (sandbox_of_id)",
            reverse_sql="DROP INDEX sandbox_of_a_team",
        ),
    ]
