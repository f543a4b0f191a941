import uuid

import django.contrib.postgres.fields
from django.db import migrations, models


def give_codes(apps, schema_editor):
    product = apps.get_model("store", "Product")
    for row in product.objects.filter(code=None):
        row.code = uuid.uuid5(uuid.NAMESPACE_OID, str(row.pk))
        row.save(update_fields=["code"])


class Migration(migrations.Migration):
    dependencies = [("store", "0001_first")]
    operations = [
        migrations.AddField("maker", "founded", models.IntegerField(null=True)),
        migrations.AddField("customer", "active", models.BooleanField(default=True)),
        migrations.AddField("customer", "rank", models.SmallIntegerField(null=True)),
        migrations.AddField("product", "details", models.JSONField(default=dict)),
        migrations.AddField(
            "product",
            "labels",
            django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=20), default=list, size=None
            ),
        ),
        migrations.AddField("product", "code", models.UUIDField(null=True)),
        migrations.RunPython(give_codes, migrations.RunPython.noop),
        migrations.AddField("line", "gift", models.CharField(max_length=30, null=True)),
    ]
