"""Keeps the configuration of each monitor as JSON too, and notes which teams have maintenance to come."""

from tortoise import fields, migrations
from tortoise.migrations import operations as ops
from tortoise.migrations.schema_editor.base import BaseSchemaEditor

# `to_json` depends on settings, as PostgreSQL sees it, so a generated column may not use it. `json_object`
# writes texts in the same way: `{"" : "text"}`.
_TEXT = """left(substr(json_object(ARRAY['', {0}])::text, 7), -1)"""
_NUMBER = "coalesce({0}::text, 'null')"
_JSON = "{0}"

_FIELDS = {
    "name": _TEXT,
    "url": _TEXT,
    "method": _TEXT,
    "request_headers": _JSON,
    "request_body": _TEXT,
    "expected_status_codes": _JSON,
    "required_keyword": _TEXT,
    "forbidden_keyword": _TEXT,
    "interval_seconds": _NUMBER,
    "timeout_seconds": _NUMBER,
    "follow_redirects": _NUMBER,
    "verify_tls": _NUMBER,
    "tls_expiry_warning_days": _NUMBER,
    "slow_threshold_ms": _NUMBER,
    "failure_threshold": _NUMBER,
    "recovery_threshold": _NUMBER,
    "paused": _NUMBER,
    "tags": _JSON,
}


async def write_configurations(_apps: object, editor: BaseSchemaEditor) -> None:
    """Have PostgreSQL keep what most of a monitor's JSON says, so that a list need not write it anew."""
    if editor.client.capabilities.dialect == "postgres":
        members = [f"""'"{name}":' || {written.format(name)}""" for name, written in _FIELDS.items()]
        written = " || ',' || ".join(members)
        await editor.client.execute_query(
            f"ALTER TABLE monitors ADD COLUMN written_configuration TEXT GENERATED ALWAYS AS ({written}) STORED"
        )


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0020_who_muted")]

    operations = [
        ops.RunPython(write_configurations, ops.RunPython.noop),
        # True until somebody looks: teams may have windows already.
        ops.AddField(
            model_name="Team",
            name="may_have_maintenance",
            field=fields.BooleanField(default=True, db_default=True),
        ),
    ]
