from tortoise import migrations
from tortoise.migrations import operations as ops
from tortoise import fields


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0034_links_between_articles")]

    initial = False

    operations = [
        ops.AddField(
            model_name="MaintenanceWindow",
            name="key",
            field=fields.CharField(null=True, max_length=100),
        ),
        ops.RunSQL(
            'CREATE UNIQUE INDEX keys_of_maintenance_windows ON maintenance_windows (team_id, "key")'
            ' WHERE "key" IS NOT NULL'
        ),
        ops.AddField(
            model_name="Monitor",
            name="key",
            field=fields.CharField(null=True, max_length=100),
        ),
        ops.RunSQL(
            'CREATE UNIQUE INDEX keys_of_monitors ON monitors (team_id, "key") WHERE "key" IS NOT NULL'
        ),
        ops.AddField(
            model_name="NotificationChannel",
            name="key",
            field=fields.CharField(null=True, max_length=100),
        ),
        ops.RunSQL(
            'CREATE UNIQUE INDEX keys_of_notification_channels ON notification_channels (team_id, "key")'
            ' WHERE "key" IS NOT NULL'
        ),
    ]
