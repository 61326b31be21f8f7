"""Models of a small garden: every kind of column, index and constraint that rooms may need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tortoise import Model, fields
from tortoise.indexes import Index, PartialIndex

from monitoring.backends.fields import JsonTextField, UtcDatetimeField, uuid7

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID


class Bed(Model):
    id = fields.UUIDField(primary_key=True, default=uuid7)
    name = fields.CharField(max_length=100, unique=True)
    free_places = fields.IntField(default=0)

    class Meta:
        table = "beds"


class Plant(Model):
    id = fields.UUIDField(primary_key=True, default=uuid7)
    bed: fields.ForeignKeyRelation[Bed] = fields.ForeignKeyField("monitoring.Bed", related_name="plants")
    bed_id: UUID
    species = fields.CharField(max_length=100)
    status = fields.CharField(max_length=20, default="growing")
    notes: fields.Field[dict[str, Any]] = JsonTextField(default=dict)
    planted_at: fields.Field[datetime] = UtcDatetimeField(auto_now_add=True)
    watered_at: fields.Field[datetime | None] = UtcDatetimeField(null=True)

    class Meta:
        table = "plants"
        unique_together = (("bed", "species"),)
        indexes = (
            Index(fields=("bed_id", "planted_at")),
            PartialIndex(fields=("planted_at",), name="idx_plants_thirsty", condition={"status": "thirsty"}),
        )
