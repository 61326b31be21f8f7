"""Who writes the sitemap and the feeds, and which translations are demonstrations."""

from tortoise import migrations
from tortoise.migrations import operations as ops
from monitoring.backends.fields import UtcDatetimeField
from tortoise import fields


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0007_reading_articles")]

    initial = False

    operations = [
        ops.CreateModel(
            name="SiteFiles",
            fields=[
                ("id", fields.IntField(generated=True, primary_key=True, unique=True, db_index=True)),
                ("written", fields.CharField(default="", max_length=64)),
                ("attempts", fields.IntField(default=0)),
                ("due_at", UtcDatetimeField(auto_now=False, auto_now_add=False)),
                ("claim", fields.UUIDField(null=True)),
            ],
            options={
                "table": "site_files",
                "app": "monitoring",
                "pk_attr": "id",
                "table_description": "The one row whose holder writes the sitemap and the feeds: from which state they were written.",
            },
            bases=["Model"],
        ),
        ops.AddField(
            model_name="Translation",
            name="is_demonstration",
            field=fields.BooleanField(default=False, db_default=False),
        ),
    ]
