from tortoise import migrations
from tortoise.migrations import operations as ops
from monitoring.backends.fields import JsonTextField


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0013_add_channel_confirmation")]

    initial = False

    operations = [
        ops.AddField(
            model_name="Rollup",
            name="phases",
            field=JsonTextField(null=True, generated=False, unique=False),
        ),
    ]
