from tortoise import migrations
from tortoise.migrations import operations as ops
from monitoring.backends.fields import JsonTextField, UtcDatetimeField


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0014_changes_of_articles")]

    initial = False

    operations = [
        ops.AddField(
            model_name="Incident",
            name="answer",
            field=JsonTextField(null=True, generated=False, unique=False),
        ),
        ops.AddField(
            model_name="Rollup",
            name="phases",
            field=JsonTextField(null=True, generated=False, unique=False),
        ),
        ops.AddField(
            model_name="CheckState",
            name="certificate_expires_at",
            field=UtcDatetimeField(null=True, auto_now=False, auto_now_add=False),
        ),
    ]
