from tortoise import migrations
from tortoise.migrations import operations as ops
from monitoring.backends.fields import UtcDatetimeField, uuid7
from tortoise.fields.base import OnDelete
from tortoise import fields
from tortoise.indexes import Index


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0010_routing")]

    initial = False

    operations = [
        ops.CreateModel(
            name="IncidentNote",
            fields=[
                ("id", fields.UUIDField(primary_key=True, default=uuid7, unique=True, db_index=True)),
                (
                    "incident",
                    fields.ForeignKeyField(
                        "monitoring.Incident",
                        source_field="incident_id",
                        db_constraint=True,
                        to_field="id",
                        related_name="notes",
                        on_delete=OnDelete.CASCADE,
                    ),
                ),
                ("author", fields.CharField(max_length=255)),
                ("text", fields.TextField(unique=False)),
                ("created_at", UtcDatetimeField(auto_now=False, auto_now_add=False)),
            ],
            options={
                "table": "incident_notes",
                "app": "monitoring",
                "indexes": [Index(fields=["incident_id", "id"])],
                "pk_attr": "id",
                "table_description": "What somebody wrote about an incident.",
            },
            bases=["Model"],
        ),
        ops.AddField(
            model_name="Incident",
            name="acknowledged_at",
            field=UtcDatetimeField(null=True, auto_now=False, auto_now_add=False),
        ),
        ops.AddField(
            model_name="Incident",
            name="acknowledged_by",
            field=fields.CharField(null=True, max_length=255),
        ),
    ]
