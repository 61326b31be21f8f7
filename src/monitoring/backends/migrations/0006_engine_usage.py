from tortoise import migrations
from tortoise.migrations import operations as ops
from tortoise import fields


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0005_publication")]

    initial = False

    operations = [
        ops.CreateModel(
            name="EngineUsage",
            fields=[
                ("id", fields.BigIntField(generated=True, primary_key=True, unique=True, db_index=True)),
                ("month", fields.CharField(max_length=7)),
                ("engine", fields.CharField(max_length=100)),
                ("locale", fields.CharField(max_length=35)),
                ("characters", fields.BigIntField(default=0)),
                ("requests", fields.BigIntField(default=0)),
            ],
            options={
                "table": "engine_usage",
                "app": "monitoring",
                "unique_together": (("month", "engine", "locale"),),
                "pk_attr": "id",
                "table_description": "What an engine was asked in a month, for a locale. A row without an engine has the month's sum.",
            },
            bases=["Model"],
        ),
        ops.AddField(
            model_name="Translation",
            name="engine",
            field=fields.CharField(null=True, max_length=100),
        ),
    ]
