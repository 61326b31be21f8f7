from tortoise import migrations
from tortoise.migrations import operations as ops
from monitoring.backends.fields import JsonTextField


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0015_changes_of_articles")]

    initial = False

    operations = [
        ops.AddField(
            model_name="Rollup",
            name="phases",
            field=JsonTextField(null=True, generated=False, unique=False),
        ),
    ]
