from tortoise import migrations
from tortoise.migrations import operations as ops
from monitoring.backends.fields import UtcDatetimeField, uuid7
from tortoise.fields.base import OnDelete
from tortoise import fields
from tortoise.indexes import Index


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0018_pending_deletions_and_mutes")]

    initial = False

    operations = [
        ops.CreateModel(
            name="HistoryEntry",
            fields=[
                ("id", fields.UUIDField(primary_key=True, default=uuid7, unique=True, db_index=True)),
                ("article_id", fields.UUIDField()),
                ("happened_at", UtcDatetimeField(auto_now=False, auto_now_add=False)),
                ("event", fields.CharField(max_length=10)),
                ("revision", fields.IntField()),
                ("locale", fields.CharField(null=True, max_length=35)),
                ("reason", fields.CharField(null=True, max_length=500)),
            ],
            options={
                "table": "article_history",
                "app": "monitoring",
                "indexes": [Index(fields=["article_id", "id"])],
                "pk_attr": "id",
                "table_description": "What became of an article, where neither its rows nor the audit log keep it.",
            },
            bases=["Model"],
        ),
        ops.CreateModel(
            name="KeptAnswer",
            fields=[
                ("id", fields.UUIDField(primary_key=True, default=uuid7, unique=True, db_index=True)),
                (
                    "session",
                    fields.ForeignKeyField(
                        "monitoring.Session",
                        source_field="session_id",
                        db_constraint=True,
                        to_field="id",
                        on_delete=OnDelete.CASCADE,
                    ),
                ),
                ("status", fields.IntField()),
                ("page", fields.TextField(unique=False)),
                ("created_at", UtcDatetimeField(db_index=True, auto_now=False, auto_now_add=False)),
            ],
            options={
                "table": "kept_answers",
                "app": "monitoring",
                "indexes": [Index(fields=["session_id", "id"])],
                "pk_attr": "id",
                "table_description": "The page that tells what is wrong with a form, for a browser that comes back to it. Encrypted.",
            },
            bases=["Model"],
        ),
        ops.CreateModel(
            name="RefusedSegment",
            fields=[
                ("id", fields.BigIntField(generated=True, primary_key=True, unique=True, db_index=True)),
                (
                    "translation",
                    fields.ForeignKeyField(
                        "monitoring.Translation",
                        source_field="translation_id",
                        db_constraint=True,
                        to_field="id",
                        on_delete=OnDelete.CASCADE,
                    ),
                ),
                ("segment_hash", fields.CharField(max_length=64)),
                ("fault", fields.CharField(max_length=20)),
            ],
            options={
                "table": "refused_segments",
                "app": "monitoring",
                "unique_together": (("translation_id", "segment_hash"),),
                "pk_attr": "id",
                "table_description": "A segment that a translation left in English, and what was wrong with the answer.",
            },
            bases=["Model"],
        ),
    ]
