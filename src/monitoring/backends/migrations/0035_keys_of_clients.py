from tortoise import migrations
from tortoise.migrations import operations as ops
from tortoise import fields
from tortoise.migrations.constraints import UniqueConstraint


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0034_links_between_articles")]

    initial = False

    operations = [
        ops.AddField(
            model_name="MaintenanceWindow",
            name="key",
            field=fields.CharField(null=True, max_length=100),
        ),
        ops.AddConstraint(
            model_name="MaintenanceWindow",
            constraint=UniqueConstraint(fields=("team_id", "key"), name=None),
        ),
        ops.AddField(
            model_name="Monitor",
            name="key",
            field=fields.CharField(null=True, max_length=100),
        ),
        ops.AddConstraint(
            model_name="Monitor",
            constraint=UniqueConstraint(fields=("team_id", "key"), name=None),
        ),
        ops.AddField(
            model_name="NotificationChannel",
            name="key",
            field=fields.CharField(null=True, max_length=100),
        ),
        ops.AddConstraint(
            model_name="NotificationChannel",
            constraint=UniqueConstraint(fields=("team_id", "key"), name=None),
        ),
    ]
