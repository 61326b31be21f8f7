from tortoise import migrations
from tortoise.migrations import operations as ops
from tortoise import fields


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0027_what_readers_answered")]

    initial = False

    operations = [
        ops.CreateModel(
            name="WriteProbe",
            fields=[
                ("id", fields.IntField(generated=True, primary_key=True, unique=True, db_index=True)),
                ("content", fields.BinaryField()),
            ],
            options={
                "table": "write_probes",
                "app": "monitoring",
                "pk_attr": "id",
                "table_description": "The one row that is written to find out whether the database takes writes.",
            },
            bases=["Model"],
        ),
    ]
