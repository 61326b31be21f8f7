from tortoise import migrations
from tortoise.migrations import operations as ops
from tortoise import fields

from monitoring.backends.fields import JsonTextField


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0028_write_probes")]

    initial = False

    # The release before goes on creating monitors meanwhile, which are of type http.
    operations = [
        ops.AddField(
            model_name="Monitor",
            name="type",
            field=fields.CharField(default="http", db_default="http", max_length=20),
        ),
        ops.AddField(
            model_name="Monitor",
            name="settings",
            field=JsonTextField(default=dict, db_default={}, generated=False, null=False, unique=False),
        ),
    ]
