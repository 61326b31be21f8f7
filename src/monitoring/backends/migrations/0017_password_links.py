from tortoise import migrations
from tortoise.migrations import operations as ops
from monitoring.backends.fields import UtcDatetimeField, uuid7
from tortoise.fields.base import OnDelete
from tortoise import fields
from tortoise.indexes import Index


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0016_audit_changes")]

    initial = False

    operations = [
        ops.CreateModel(
            name="PasswordLink",
            fields=[
                ("id", fields.UUIDField(primary_key=True, default=uuid7, unique=True, db_index=True)),
                (
                    "user",
                    fields.ForeignKeyField(
                        "monitoring.User",
                        source_field="user_id",
                        db_constraint=True,
                        to_field="id",
                        related_name="password_links",
                        on_delete=OnDelete.CASCADE,
                    ),
                ),
                ("attempts", fields.IntField(default=0)),
                ("due_at", UtcDatetimeField(null=True, db_index=True, auto_now=False, auto_now_add=False)),
                ("claim", fields.UUIDField(null=True)),
                ("nudged_at", UtcDatetimeField(null=True, auto_now=False, auto_now_add=False)),
                ("created_at", UtcDatetimeField(auto_now=False, auto_now_add=False)),
                ("expires_at", UtcDatetimeField(db_index=True, auto_now=False, auto_now_add=False)),
            ],
            options={
                "table": "password_links",
                "app": "monitoring",
                "indexes": [Index(fields=["user_id"])],
                "pk_attr": "id",
                "table_description": "A link by email for one new password: the row is the job of sending it, until it is used or too old.",
            },
            bases=["Model"],
        ),
    ]
