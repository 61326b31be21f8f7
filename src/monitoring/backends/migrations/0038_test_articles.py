from tortoise import migrations
from tortoise.migrations import operations as ops
from monitoring.backends.fields import JsonTextField, UtcDatetimeField, uuid7
from tortoise import fields
from tortoise.indexes import Index


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0037_letters_of_invitations")]

    initial = False

    operations = [
        ops.CreateModel(
            name="TestArticle",
            fields=[
                ("id", fields.UUIDField(primary_key=True, default=uuid7, unique=True, db_index=True)),
                ("identity", fields.CharField(unique=True, max_length=600)),
                ("slug", fields.CharField(max_length=255)),
                ("title", fields.TextField(null=True, unique=False)),
                ("status", fields.CharField(max_length=11)),
                ("withdrawn_at", UtcDatetimeField(null=True, auto_now=False, auto_now_add=False)),
                ("revision", fields.IntField(default=0)),
                ("content_hash", fields.CharField(default="", max_length=64)),
                ("source_time", UtcDatetimeField(null=True, auto_now=False, auto_now_add=False)),
                ("source_time_field", fields.CharField(null=True, max_length=20)),
                ("payload", JsonTextField(default=dict, generated=False, null=False, unique=False)),
                ("tags", JsonTextField(default=list, generated=False, null=False, unique=False)),
                ("received_at", UtcDatetimeField(auto_now=False, auto_now_add=False)),
                ("updated_at", UtcDatetimeField(auto_now=False, auto_now_add=False)),
                ("translations", JsonTextField(default=list, generated=False, null=False, unique=False)),
                ("is_due", fields.BooleanField(default=False)),
                ("attempts", fields.IntField(default=0)),
            ],
            options={
                "table": "test_articles",
                "app": "monitoring",
                "indexes": [Index(fields=["updated_at"])],
                "pk_attr": "id",
                "table_description": "An article of a publisher that tests: kept for a day, translated for nobody, and never published.",
            },
            bases=["Model"],
        ),
    ]
