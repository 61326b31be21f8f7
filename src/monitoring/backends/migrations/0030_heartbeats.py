from tortoise import migrations
from tortoise.migrations import operations as ops
from monitoring.backends.fields import UtcDatetimeField, uuid7
from tortoise.fields.base import OnDelete
from tortoise import fields
from tortoise.indexes import Index


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0029_monitor_types")]

    initial = False

    operations = [
        ops.CreateModel(
            name="Heartbeat",
            fields=[
                ("id", fields.UUIDField(primary_key=True, default=uuid7, unique=True, db_index=True)),
                (
                    "monitor",
                    fields.OneToOneField(
                        "monitoring.Monitor",
                        source_field="monitor_id",
                        db_constraint=True,
                        to_field="id",
                        related_name="heartbeat",
                        on_delete=OnDelete.CASCADE,
                    ),
                ),
                ("token_sha256", fields.CharField(unique=True, max_length=64)),
                ("encrypted_token", fields.TextField(unique=False)),
                ("counted_from", UtcDatetimeField(null=True, auto_now=False, auto_now_add=False)),
                ("ended_at", UtcDatetimeField(null=True, auto_now=False, auto_now_add=False)),
                ("ended_with", fields.CharField(null=True, max_length=7)),
                ("exit_code", fields.SmallIntField(null=True)),
                ("started_at", UtcDatetimeField(null=True, auto_now=False, auto_now_add=False)),
                ("run_id", fields.UUIDField(null=True)),
            ],
            options={
                "table": "heartbeats",
                "app": "monitoring",
                "pk_attr": "id",
                "table_description": "What is known of the job of a monitor of this type.",
            },
            bases=["Model"],
        ),
        ops.CreateModel(
            name="Ping",
            fields=[
                ("id", fields.UUIDField(primary_key=True, default=uuid7, unique=True, db_index=True)),
                (
                    "monitor",
                    fields.ForeignKeyField(
                        "monitoring.Monitor",
                        source_field="monitor_id",
                        db_constraint=True,
                        to_field="id",
                        related_name="pings",
                        on_delete=OnDelete.CASCADE,
                    ),
                ),
                ("received_at", UtcDatetimeField(auto_now=False, auto_now_add=False)),
                ("kind", fields.CharField(max_length=7)),
                ("exit_code", fields.SmallIntField(null=True)),
                ("run_id", fields.UUIDField(null=True)),
                ("method", fields.CharField(max_length=4)),
                ("user_agent", fields.CharField(null=True, max_length=200)),
                ("body", fields.TextField(null=True, unique=False)),
                ("is_body_cut", fields.BooleanField(default=False)),
            ],
            options={
                "table": "pings",
                "app": "monitoring",
                "indexes": [Index(fields=["monitor_id", "id"])],
                "pk_attr": "id",
                "table_description": "A ping as it came, with the beginning of its body. The last hundred of a monitor are kept.",
            },
            bases=["Model"],
        ),
        ops.CreateModel(
            name="PingReception",
            fields=[
                ("id", fields.IntField(generated=True, primary_key=True, unique=True, db_index=True)),
                ("received_until", UtcDatetimeField(auto_now=False, auto_now_add=False)),
                ("interrupted_until", UtcDatetimeField(null=True, auto_now=False, auto_now_add=False)),
            ],
            options={
                "table": "ping_reception",
                "app": "monitoring",
                "pk_attr": "id",
                "table_description": "The one row that says until when pings could be received, and when they could be again after a gap.",
            },
            bases=["Model"],
        ),
    ]
