"""Articles that are unpublished or deleted, and which article uses which remembered segment."""

from tortoise import migrations
from tortoise.migrations import operations as ops
from monitoring.backends.fields import UtcDatetimeField
from tortoise.fields.base import OnDelete
from tortoise import fields
from tortoise.indexes import Index


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0004_encrypted_credentials")]

    initial = False

    operations = [
        # First, because it takes longest and no other table has to wait for it.
        ops.AddIndex(
            model_name="TranslationMemory",
            index=Index(fields=["segment_hash"]),
        ),
        ops.CreateModel(
            name="MemoryUse",
            fields=[
                ("id", fields.BigIntField(generated=True, primary_key=True, unique=True, db_index=True)),
                (
                    "article",
                    fields.ForeignKeyField(
                        "monitoring.Article",
                        source_field="article_id",
                        db_constraint=True,
                        to_field="id",
                        on_delete=OnDelete.CASCADE,
                    ),
                ),
                ("segment_hash", fields.CharField(max_length=64)),
            ],
            options={
                "table": "memory_uses",
                "app": "monitoring",
                "unique_together": (("article_id", "segment_hash"),),
                "indexes": [Index(fields=["segment_hash"])],
                "pk_attr": "id",
                "table_description": "A segment of an article, so that what only a deleted article needs is forgotten with it.",
            },
            bases=["Model"],
        ),
        ops.AddField(
            model_name="Article",
            name="remove_at",
            field=UtcDatetimeField(null=True, auto_now=False, auto_now_add=False),
        ),
        ops.AddField(
            model_name="Article",
            name="status",
            field=fields.CharField(default="published", db_default="published", max_length=11),
        ),
        ops.AddField(
            model_name="Article",
            name="withdrawn_at",
            field=UtcDatetimeField(null=True, auto_now=False, auto_now_add=False),
        ),
        ops.AddIndex(
            model_name="Article",
            index=Index(fields=["remove_at"]),
        ),
        ops.AddField(
            model_name="Translation",
            name="untranslated_segments",
            field=fields.IntField(default=0, db_default=0),
        ),
    ]
