import uuid

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True
    dependencies = []
    operations = [
        migrations.CreateModel(
            "Maker",
            [
                ("id", models.AutoField(primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=80, unique=True)),
                ("land", models.CharField(max_length=2)),
            ],
        ),
        migrations.CreateModel(
            "Product",
            [
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=60)),
                ("price", models.FloatField()),
                ("stock", models.IntegerField(default=0)),
                ("made", models.CharField(max_length=10)),
                ("note", models.CharField(blank=True, max_length=30, null=True)),
                ("maker", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="store.maker")),
            ],
        ),
        migrations.CreateModel(
            "Customer",
            [
                ("id", models.UUIDField(default=uuid.uuid4, primary_key=True, serialize=False)),
                ("email", models.EmailField(db_index=True, max_length=254)),
                ("name", models.CharField(max_length=60)),
            ],
        ),
        migrations.CreateModel(
            "Order",
            [
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("placed", models.DateTimeField(db_index=True)),
                ("state", models.CharField(default="open", max_length=10)),
                ("customer", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="store.customer")),
            ],
        ),
        migrations.CreateModel(
            "Line",
            [
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("count", models.PositiveSmallIntegerField(default=1)),
                ("order", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="store.order")),
                ("product", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, to="store.product")),
            ],
            options={"unique_together": {("order", "product")}},
        ),
        migrations.CreateModel(
            "Review",
            [
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("stars", models.SmallIntegerField()),
                ("product", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="store.product")),
            ],
        ),
    ]
