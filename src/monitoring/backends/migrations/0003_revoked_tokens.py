from tortoise import migrations
from tortoise.migrations import operations as ops
from monitoring.backends.fields import UtcDatetimeField
from tortoise import fields


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0002_checks")]

    initial = False

    operations = [
        ops.CreateModel(
            name="RevokedToken",
            fields=[
                ("token_id", fields.CharField(primary_key=True, unique=True, db_index=True, max_length=64)),
                ("expires_at", UtcDatetimeField(db_index=True, auto_now=False, auto_now_add=False)),
            ],
            options={
                "table": "revoked_tokens",
                "app": "monitoring",
                "pk_attr": "token_id",
                "table_description": "A token that its own client gave up before it ended, by its `jti`. Dropped some time after that end.",
            },
            bases=["Model"],
        ),
    ]
