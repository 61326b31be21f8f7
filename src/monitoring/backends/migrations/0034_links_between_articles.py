from tortoise import migrations
from tortoise.migrations import operations as ops
from monitoring.backends.fields import UtcDatetimeField
from tortoise.fields.base import OnDelete
from tortoise import fields
from tortoise.indexes import Index


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0033_sandboxes")]

    initial = False

    operations = [
        ops.CreateModel(
            name="ArticleLink",
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
                ("key", fields.CharField(max_length=256)),
            ],
            options={
                "table": "article_links",
                "app": "monitoring",
                "unique_together": (("article_id", "key"),),
                "indexes": [Index(fields=["key"])],
                "pk_attr": "id",
                "table_description": "An article that a link in another article may lead to, by a key of `links/addresses.py`.",
            },
            bases=["Model"],
        ),
        ops.AddField(
            model_name="Article",
            name="address",
            field=fields.CharField(null=True, max_length=64),
        ),
        ops.AddIndex(
            model_name="Article",
            index=Index(fields=["address"]),
        ),
        ops.AddField(
            model_name="SiteFiles",
            name="links_followed_at",
            field=UtcDatetimeField(null=True, auto_now=False, auto_now_add=False),
        ),
    ]
