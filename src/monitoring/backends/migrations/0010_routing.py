from tortoise import migrations
from tortoise.migrations import operations as ops
from tortoise import fields


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0009_notification_channels")]

    initial = False

    operations = [
        ops.AddField(
            model_name="NotificationDelivery",
            name="digest_id",
            field=fields.UUIDField(null=True, db_index=True),
        ),
        ops.AddField(
            model_name="NotificationDelivery",
            name="hold",
            field=fields.CharField(null=True, max_length=10),
        ),
        ops.AddField(
            model_name="NotificationDelivery",
            name="subject_id",
            field=fields.UUIDField(null=True, db_index=True),
        ),
        ops.AddField(
            model_name="CheckState",
            name="certificate_told_days",
            field=fields.IntField(null=True),
        ),
        ops.AddField(
            model_name="CheckState",
            name="degradation_streak",
            field=fields.IntField(default=0, db_default=0),
        ),
        ops.AddField(
            model_name="CheckState",
            name="is_degradation_told",
            field=fields.BooleanField(default=False, db_default=False),
        ),
    ]
