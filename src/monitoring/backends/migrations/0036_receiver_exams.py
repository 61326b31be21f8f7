from tortoise import migrations
from tortoise.migrations import operations as ops
from monitoring.backends.fields import JsonTextField, UtcDatetimeField, uuid7
from tortoise.fields.base import OnDelete
from tortoise import fields
from tortoise.indexes import Index


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0035_keys_of_clients")]

    initial = False

    operations = [
        ops.CreateModel(
            name="ReceiverExam",
            fields=[
                ("id", fields.UUIDField(primary_key=True, default=uuid7, unique=True, db_index=True)),
                (
                    "channel",
                    fields.ForeignKeyField(
                        "monitoring.NotificationChannel",
                        source_field="channel_id",
                        db_constraint=True,
                        to_field="id",
                        related_name="exams",
                        on_delete=OnDelete.CASCADE,
                    ),
                ),
                ("results", JsonTextField(null=True, generated=False, unique=False)),
                ("created_at", UtcDatetimeField(auto_now=False, auto_now_add=False)),
                ("started_at", UtcDatetimeField(null=True, auto_now=False, auto_now_add=False)),
            ],
            options={
                "table": "receiver_exams",
                "app": "monitoring",
                "indexes": [Index(fields=["channel_id", "id"])],
                "pk_attr": "id",
                "table_description": "The last exam of a webhook's receiver. `results` are those of the document, and null until it ended.",
            },
            bases=["Model"],
        ),
    ]
