from tortoise import migrations
from tortoise.migrations import operations as ops
from monitoring.backends.fields import JsonTextField
from tortoise import fields


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0030_heartbeats")]

    initial = False

    operations = [
        ops.AddField(
            model_name="Monitor",
            name="assertions",
            field=JsonTextField(default=list, db_default=[], generated=False, null=False, unique=False),
        ),
        ops.AddField(
            model_name="Monitor",
            name="retry_interval_seconds",
            field=fields.IntField(default=10, db_default=10),
        ),
        ops.AddField(
            model_name="Monitor",
            name="certificate_authority",
            field=fields.TextField(null=True, unique=False),
        ),
        ops.AddField(
            model_name="Monitor",
            name="client_certificate",
            field=fields.TextField(null=True, unique=False),
        ),
    ]
