"""Has a function write the configuration of each monitor as JSON, in the same generated column."""

from tortoise import migrations
from tortoise.migrations import operations as ops
from tortoise.migrations.schema_editor.base import BaseSchemaEditor

_TEXT = "coalesce(to_json({0})::text, 'null')"
_VALUE = "coalesce({0}::text, 'null')"
_JSON = "{0}"

# Parameters of the function, each with its type and how its value is written.
_FIELDS = {
    "name": ("text", _TEXT),
    "url": ("text", _TEXT),
    "method": ("text", _TEXT),
    "request_headers": ("text", _JSON),
    "request_body": ("text", _TEXT),
    "expected_status_codes": ("text", _JSON),
    "required_keyword": ("text", _TEXT),
    "forbidden_keyword": ("text", _TEXT),
    "interval_seconds": ("int", _VALUE),
    "timeout_seconds": ("int", _VALUE),
    "follow_redirects": ("boolean", _VALUE),
    "verify_tls": ("boolean", _VALUE),
    "tls_expiry_warning_days": ("int", _VALUE),
    "slow_threshold_ms": ("int", _VALUE),
    "failure_threshold": ("int", _VALUE),
    "recovery_threshold": ("int", _VALUE),
    "paused": ("boolean", _VALUE),
    "tags": ("text", _JSON),
}


async def write_by_a_function(_apps: object, editor: BaseSchemaEditor) -> None:
    """Spare PostgreSQL a third of its work for each new monitor.

    With each INSERT it reads and plans the expressions of generated columns anew, and this one was long. A
    function in PL/pgSQL is planned once for each connection. It is called immutable because `to_json` of text
    depends on no setting, as it does for moments.
    """
    if editor.client.capabilities.dialect != "postgres":
        return
    parameters = ", ".join(f"{name} {type_}" for name, (type_, _) in _FIELDS.items())
    members = ", ',', ".join(f"""'"{name}":', {write.format(name)}""" for name, (_, write) in _FIELDS.items())
    await editor.client.execute_query(
        f"CREATE FUNCTION write_monitor_configuration({parameters}) RETURNS text"
        f" LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$ BEGIN RETURN concat({members}); END $$"
    )
    await editor.client.execute_query(
        "ALTER TABLE monitors DROP COLUMN written_configuration, ADD COLUMN written_configuration TEXT"
        f" GENERATED ALWAYS AS (write_monitor_configuration({', '.join(_FIELDS)})) STORED"
    )


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0022_attempts_have_an_end")]

    operations = [ops.RunPython(write_by_a_function, ops.RunPython.noop)]
