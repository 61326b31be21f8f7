from tortoise import migrations
from tortoise.migrations import operations as ops
from monitoring.backends.fields import JsonTextField
from tortoise import fields
from tortoise.indexes import Index


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0015_answers_and_phases")]

    initial = False

    operations = [
        ops.AddField(
            model_name="AuditEntry",
            name="actor_client_id",
            field=fields.CharField(null=True, max_length=255),
        ),
        ops.AddField(
            model_name="AuditEntry",
            name="changes",
            field=JsonTextField(null=True, generated=False, unique=False),
        ),
        ops.AddIndex(
            model_name="AuditEntry",
            index=Index(fields=["subject_id"]),
        ),
    ]
