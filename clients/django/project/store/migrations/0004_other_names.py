import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("store", "0003_other_types")]
    operations = [
        migrations.RenameField("product", "name", "title"),
        migrations.AlterField("product", "title", models.CharField(max_length=100)),
        migrations.RenameField("maker", "land", "country"),
        migrations.AlterField("maker", "country", models.CharField(db_index=True, max_length=2)),
        migrations.RenameModel("Order", "Purchase"),
        migrations.RenameField("line", "order", "purchase"),
        migrations.AlterField(
            "line",
            "purchase",
            models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="lines", to="store.purchase"),
        ),
        migrations.AlterField(
            "line",
            "product",
            models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="lines", to="store.product"),
        ),
        migrations.AlterField(
            "purchase",
            "customer",
            models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="purchases", to="store.customer"
            ),
        ),
        migrations.AlterModelTable("product", "store_goods"),
        migrations.AlterModelOptions("product", {"ordering": ["id"]}),
        migrations.AlterModelOptions("purchase", {"get_latest_by": "placed"}),
    ]
