import datetime
import uuid

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("store", "0002_more_fields")]
    operations = [
        migrations.AlterField("product", "code", models.UUIDField(default=uuid.uuid4, unique=True)),
        migrations.AlterField("product", "price", models.DecimalField(decimal_places=2, max_digits=12)),
        migrations.AlterField("product", "stock", models.BigIntegerField(default=0)),
        migrations.AlterField("product", "made", models.DateField(default=datetime.date(2024, 1, 1))),
        migrations.AlterField("product", "note", models.TextField(blank=True, default="")),
        migrations.AlterField("maker", "name", models.CharField(max_length=120, unique=True)),
        migrations.AlterField("line", "count", models.PositiveIntegerField(default=1)),
        # The key's type changes, and so does the type of all that refer to it.
        migrations.AlterField("maker", "id", models.BigAutoField(primary_key=True, serialize=False)),
        migrations.AlterField("order", "placed", models.DateTimeField()),
        migrations.AlterField("customer", "email", models.EmailField(max_length=254)),
        migrations.AlterField(
            "product",
            "maker",
            models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="products", to="store.maker"),
        ),
    ]
