from tortoise import migrations
from tortoise.migrations import operations as ops
from monitoring.backends.fields import JsonTextField, UtcDatetimeField
from tortoise import fields


class Migration(migrations.Migration):
    dependencies = [("monitoring", "0031_what_an_answer_must_say")]

    initial = False

    operations = [
        ops.AddField(
            model_name="Monitor",
            name="contract",
            field=JsonTextField(null=True, generated=False, unique=False),
        ),
        ops.AddField(
            model_name="Monitor",
            name="contract_rules",
            field=fields.TextField(null=True, unique=False),
        ),
        ops.AddField(
            model_name="Monitor",
            name="contract_authorization",
            field=fields.TextField(null=True, unique=False),
        ),
        ops.AddField(
            model_name="Monitor",
            name="contract_read_at",
            field=UtcDatetimeField(null=True, auto_now=False, auto_now_add=False),
        ),
        ops.AddField(
            model_name="Monitor",
            name="contract_problem",
            field=fields.CharField(null=True, unique=False, max_length=255),
        ),
    ]
