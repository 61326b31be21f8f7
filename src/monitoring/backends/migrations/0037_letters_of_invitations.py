from tortoise import migrations
from tortoise.migrations import operations as ops
from monitoring.backends.fields import UtcDatetimeField
from tortoise import fields
from tortoise.indexes import Index


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0036_receiver_exams")]

    initial = False

    operations = [
        ops.AddField(
            model_name="Invitation",
            name="attempts",
            field=fields.IntField(default=0, db_default=0),
        ),
        ops.AddField(
            model_name="Invitation",
            name="claim",
            field=fields.UUIDField(null=True),
        ),
        ops.AddField(
            model_name="Invitation",
            name="due_at",
            field=UtcDatetimeField(null=True, auto_now=False, auto_now_add=False),
        ),
        ops.AddField(
            model_name="Invitation",
            name="mailed_at",
            field=UtcDatetimeField(null=True, auto_now=False, auto_now_add=False),
        ),
        ops.AddField(
            model_name="Invitation",
            name="nudged_at",
            field=UtcDatetimeField(null=True, auto_now=False, auto_now_add=False),
        ),
        ops.AddIndex(
            model_name="Invitation",
            index=Index(fields=["due_at"]),
        ),
    ]
