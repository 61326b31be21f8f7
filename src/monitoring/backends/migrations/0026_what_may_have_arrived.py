from tortoise import fields, migrations
from tortoise.migrations import operations as ops


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0025_worker_deaths")]

    initial = False

    operations = [
        ops.AddField(
            model_name="NotificationDelivery",
            name="may_have_arrived",
            field=fields.BooleanField(default=False, db_default=True),
        ),
    ]
