from tortoise import migrations
from tortoise.migrations import operations as ops
from monitoring.backends.fields import UtcDatetimeField


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0023_configurations_by_a_function")]

    initial = False

    operations = [
        ops.AddField(
            model_name="NotificationChannel",
            name="answered_at",
            field=UtcDatetimeField(null=True, auto_now=False, auto_now_add=False),
        ),
    ]
