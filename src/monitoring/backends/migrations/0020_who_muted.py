from tortoise import migrations
from tortoise.migrations import operations as ops
from tortoise import fields


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0019_histories_refusals_and_kept_answers")]

    initial = False

    operations = [
        ops.AddField(
            model_name="Mute",
            name="muted_by",
            field=fields.CharField(null=True, max_length=255),
        ),
        # 0010 added both columns with `db_index`, of which `AddField` makes no index.
        ops.RunSQL(
            sql="CREATE INDEX IF NOT EXISTS deliveries_by_subject ON notification_deliveries (subject_id)",
            reverse_sql="DROP INDEX deliveries_by_subject",
        ),
        ops.RunSQL(
            sql="CREATE INDEX IF NOT EXISTS deliveries_by_digest ON notification_deliveries (digest_id)",
            reverse_sql="DROP INDEX deliveries_by_digest",
        ),
    ]
