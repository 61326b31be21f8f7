"""Notification webhooks become channels, of which a webhook is one type. Their deliveries stay with them.

On PostgreSQL, processes of 0.1 go on while this release starts: for them the webhooks are a view, and a trigger
fills in the column of deliveries that they do not know. The release after this one drops both, and the column.
"""

from tortoise import migrations
from tortoise.migrations import operations as ops
from tortoise import fields
from tortoise.fields.base import OnDelete
from tortoise.indexes import Index
from tortoise.migrations.schema_editor.base import BaseSchemaEditor
from tortoise.migrations.schema_generator.state import State
from monitoring.backends.fields import JsonTextField

RENAMING = (
    'ALTER TABLE "notification_webhooks" RENAME TO "notification_channels"',
    'ALTER TABLE "notification_deliveries" RENAME COLUMN "webhook_id" TO "channel_id"',
)

FOR_PROCESSES_OF_THE_RELEASE_BEFORE = """
    CREATE VIEW notification_webhooks AS
        SELECT id, team_id, name, url, events, enabled, disabled_reason, secret, created_at, updated_at
        FROM notification_channels WHERE type = 'webhook';
    ALTER TABLE notification_deliveries ADD COLUMN webhook_id uuid;
    UPDATE notification_deliveries SET webhook_id = channel_id;
    CREATE FUNCTION name_channel_and_webhook_alike() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            NEW.channel_id := coalesce(NEW.channel_id, NEW.webhook_id);
            NEW.webhook_id := NEW.channel_id;
            RETURN NEW;
        END
    $$;
    CREATE TRIGGER name_channel_and_webhook_alike BEFORE INSERT ON notification_deliveries
        FOR EACH ROW EXECUTE FUNCTION name_channel_and_webhook_alike();
"""


class RenameWebhooks(ops.TortoiseOperation):
    """Gives the model, its table and the column that points to it their new names, in one step.

    Tortoise renames tables only if they are named like their models, and no columns of foreign keys.
    """

    def state_forward(self, app_label: str, state: State) -> None:
        channel = state.models.pop((app_label, "NotificationWebhook"))
        channel.name, channel.table = "NotificationChannel", "notification_channels"
        channel.options["table"] = channel.table
        channel.fields["team"] = _foreign_key("Team", "team_id", "notification_channels")
        state.models[app_label, channel.name] = channel
        delivery = state.models[app_label, "NotificationDelivery"]
        del delivery.fields["webhook"]
        delivery.fields["channel"] = _foreign_key(channel.name, "channel_id", "deliveries")
        state.apps = state.apps.clone(model_states=state.models)

    async def database_forward(
        self, app_label: str, old_state: State, new_state: State, state_editor: BaseSchemaEditor | None = None
    ) -> None:
        if state_editor:
            for statement in RENAMING:
                await state_editor.client.execute_script(statement)


def _foreign_key(model_name: str, column: str, related_name: str) -> fields.Field:
    return fields.ForeignKeyField(
        f"monitoring.{model_name}",
        source_field=column,
        db_constraint=True,
        to_field="id",
        related_name=related_name,
        on_delete=OnDelete.CASCADE,
    )


class RunOnPostgres(ops.RunSQL):
    """Runs statements on PostgreSQL alone."""

    async def database_forward(
        self, app_label: str, old_state: State, new_state: State, state_editor: BaseSchemaEditor | None = None
    ) -> None:
        if state_editor and state_editor.client.capabilities.dialect == "postgres":
            await super().database_forward(app_label, old_state, new_state, state_editor)


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0008_site_files")]

    initial = False

    operations = [
        # Made anew below, because their names follow from those of table and columns.
        ops.RemoveIndex(model_name="NotificationDelivery", fields=["webhook_id", "id"]),
        ops.RemoveIndex(model_name="NotificationWebhook", fields=["team_id", "id"]),
        RenameWebhooks(),
        ops.AddField(
            model_name="NotificationChannel",
            name="type",
            field=fields.CharField(default="webhook", db_default="webhook", max_length=20),
        ),
        ops.AddField(
            model_name="NotificationChannel",
            name="settings",
            field=JsonTextField(default=dict, db_default={}, generated=False, null=False, unique=False),
        ),
        ops.AlterModelOptions(
            name="NotificationChannel",
            options={
                "table": "notification_channels",
                "app": "monitoring",
                "pk_attr": "id",
                "table_description": "Where a team is notified. Columns hold what answers show, and `secret` what they must not.",
            },
        ),
        ops.AlterModelOptions(
            name="NotificationDelivery",
            options={
                "table": "notification_deliveries",
                "app": "monitoring",
                "pk_attr": "id",
                "table_description": "One message to one channel: the row is the job. `payload` is the event as JSON.",
            },
        ),
        ops.AddIndex(model_name="NotificationChannel", index=Index(fields=["team_id", "id"])),
        ops.AddIndex(model_name="NotificationDelivery", index=Index(fields=["channel_id", "id"])),
        RunOnPostgres(FOR_PROCESSES_OF_THE_RELEASE_BEFORE),
    ]
