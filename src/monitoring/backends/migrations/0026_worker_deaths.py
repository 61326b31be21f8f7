from tortoise import migrations
from tortoise.migrations import operations as ops
from tortoise import fields


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0023_configurations_by_a_function")]

    initial = False

    operations = [
        ops.AddField(
            model_name="Translation",
            name="worker_deaths",
            field=fields.IntField(default=0, db_default=0),
        ),
    ]
