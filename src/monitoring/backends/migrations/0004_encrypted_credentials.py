"""Room for encrypted credentials: a column of monitors, and longer secrets of webhooks."""

from tortoise import migrations
from tortoise.migrations import operations as ops
from tortoise import fields
from tortoise.indexes import Index
from tortoise.migrations.schema_editor.base import BaseSchemaEditor
from tortoise.migrations.schema_generator.state import State


class AlterFieldOnPostgres(ops.AlterField):
    """Changes a column's type where that matters.

    SQLite does not enforce the length. There Tortoise would rebuild the table, which loses its index and, by
    cascade, every delivery.
    """

    async def database_forward(
        self, app_label: str, old_state: State, new_state: State, state_editor: BaseSchemaEditor | None = None
    ) -> None:
        if state_editor and state_editor.client.capabilities.dialect == "postgres":
            await super().database_forward(app_label, old_state, new_state, state_editor)


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0003_revoked_tokens")]

    initial = False

    operations = [
        ops.AlterModelOptions(
            name="Monitor",
            options={
                "table": "monitors",
                "app": "monitoring",
                "indexes": [Index(fields=["team_id", "id"])],
                "pk_attr": "id",
                "table_description": "A watched web address. Columns are named like the document's fields, and the last three are ours.",
            },
        ),
        ops.AddField(
            model_name="Monitor",
            name="encrypted_headers",
            field=fields.TextField(null=True, unique=False),
        ),
        ops.AlterModelOptions(
            name="NotificationWebhook",
            options={
                "table": "notification_webhooks",
                "app": "monitoring",
                "indexes": [Index(fields=["team_id", "id"])],
                "pk_attr": "id",
                "table_description": "A server of a team's. The secret is encrypted, and only signing and the first answer read it.",
            },
        ),
        AlterFieldOnPostgres(
            model_name="NotificationWebhook",
            name="secret",
            field=fields.TextField(unique=False),
        ),
    ]
