from tortoise import migrations
from tortoise.migrations import operations as ops
from monitoring.backends.fields import JsonTextField
from tortoise.indexes import Index


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0006_engine_usage")]

    initial = False

    operations = [
        ops.AddField(
            model_name="Article",
            name="tags",
            field=JsonTextField(null=True, generated=False, unique=False),
        ),
        ops.AddIndex(
            model_name="Article",
            index=Index(fields=["status", "id"]),
        ),
        ops.AddIndex(
            model_name="Article",
            index=Index(fields=["updated_at"]),
        ),
        ops.AddIndex(
            model_name="Translation",
            index=Index(fields=["translated_at"]),
        ),
    ]
