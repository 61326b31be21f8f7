from tortoise import migrations
from tortoise.migrations import operations as ops
from tortoise.indexes import Index


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0013_add_channel_confirmation")]

    initial = False

    operations = [
        ops.RemoveIndex(
            model_name="Article",
            name=None,
            fields=["status", "id"],
        ),
        ops.AddIndex(
            model_name="Article",
            index=Index(fields=["status", "id", "updated_at"]),
        ),
        ops.AddIndex(
            model_name="Translation",
            index=Index(fields=["article_id", "translated_at"]),
        ),
    ]
