from tortoise import migrations
from tortoise.migrations import operations as ops
from monitoring.backends.fields import UtcDatetimeField, uuid7
from tortoise.fields.base import OnDelete
from tortoise import fields
from tortoise.indexes import Index


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0017_password_links")]

    initial = False

    operations = [
        ops.CreateModel(
            name="Mute",
            fields=[
                ("id", fields.UUIDField(primary_key=True, default=uuid7, unique=True, db_index=True)),
                (
                    "monitor",
                    fields.OneToOneField(
                        "monitoring.Monitor",
                        source_field="monitor_id",
                        db_constraint=True,
                        to_field="id",
                        related_name="mute",
                        on_delete=OnDelete.CASCADE,
                    ),
                ),
                (
                    "team",
                    fields.ForeignKeyField(
                        "monitoring.Team",
                        source_field="team_id",
                        db_constraint=True,
                        to_field="id",
                        related_name="mutes",
                        on_delete=OnDelete.CASCADE,
                    ),
                ),
                ("muted_until", UtcDatetimeField(null=True, auto_now=False, auto_now_add=False)),
            ],
            options={
                "table": "mutes",
                "app": "monitoring",
                "indexes": [Index(fields=["team_id", "monitor_id"])],
                "pk_attr": "id",
                "table_description": "Nobody is told what happens to a monitor until `muted_until`. Without one, until it is unmuted.",
            },
            bases=["Model"],
        ),
        ops.CreateModel(
            name="PendingDeletion",
            fields=[
                ("id", fields.UUIDField(primary_key=True, default=uuid7, unique=True, db_index=True)),
                (
                    "monitor",
                    fields.OneToOneField(
                        "monitoring.Monitor",
                        source_field="monitor_id",
                        db_constraint=True,
                        to_field="id",
                        related_name="pending_deletion",
                        on_delete=OnDelete.CASCADE,
                    ),
                ),
                (
                    "team",
                    fields.ForeignKeyField(
                        "monitoring.Team",
                        source_field="team_id",
                        db_constraint=True,
                        to_field="id",
                        related_name="pending_deletions",
                        on_delete=OnDelete.CASCADE,
                    ),
                ),
                ("deletion_id", fields.UUIDField()),
                ("delete_at", UtcDatetimeField(db_index=True, auto_now=False, auto_now_add=False)),
            ],
            options={
                "table": "pending_deletions",
                "app": "monitoring",
                "indexes": [Index(fields=["team_id", "deletion_id"])],
                "pk_attr": "id",
                "table_description": "A monitor that will be deleted at `delete_at`, unless somebody undoes its deletion before.",
            },
            bases=["Model"],
        ),
    ]
