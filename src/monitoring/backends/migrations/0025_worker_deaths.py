from tortoise import migrations
from tortoise.migrations import operations as ops
from tortoise import fields


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0024_drop_written_configurations")]

    initial = False

    operations = [
        ops.AddField(
            model_name="Translation",
            name="worker_deaths",
            field=fields.IntField(default=0, db_default=0),
        ),
    ]
