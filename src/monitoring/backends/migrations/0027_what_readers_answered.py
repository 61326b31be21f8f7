from tortoise import migrations
from tortoise.migrations import operations as ops
from monitoring.backends.fields import UtcDatetimeField


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0026_what_may_have_arrived")]

    initial = False

    operations = [
        ops.AddField(
            model_name="NotificationChannel",
            name="answered_at",
            field=UtcDatetimeField(null=True, auto_now=False, auto_now_add=False),
        ),
    ]
