from tortoise import migrations
from tortoise.migrations import operations as ops
from tortoise import fields


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0018_pending_deletions_and_mutes")]

    initial = False

    operations = [
        ops.AddField(
            model_name="Mute",
            name="muted_by",
            field=fields.CharField(null=True, max_length=255),
        ),
    ]
