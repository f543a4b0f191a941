import django.db.models.expressions
from django.db import migrations, models
from django.db.models import F


class Migration(migrations.Migration):
    dependencies = [("store", "0006_indexes")]
    operations = [
        migrations.CreateModel(
            "Tag",
            [
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("label", models.SlugField(unique=True)),
            ],
        ),
        migrations.AddField("product", "tags", models.ManyToManyField(related_name="products", to="store.tag")),
        migrations.AddField(
            "purchase",
            "products",
            models.ManyToManyField(related_name="purchases", through="store.Line", to="store.product"),
        ),
        migrations.AddField("product", "grade", models.IntegerField(db_default=1)),
        migrations.AlterField("product", "grade", models.IntegerField(db_default=3)),
        migrations.AddField(
            "product",
            "worth",
            models.GeneratedField(
                db_persist=True,
                expression=django.db.models.expressions.CombinedExpression(F("price"), "*", F("stock")),
                output_field=models.DecimalField(decimal_places=2, max_digits=20),
            ),
        ),
        migrations.AlterModelTableComment("product", "all that is sold"),
        migrations.AlterField("maker", "founded", models.IntegerField(blank=True, null=True)),
        migrations.AlterField("product", "made", models.DateField(db_comment="the day it was made")),
        migrations.AlterField(
            "purchase",
            "state",
            models.CharField(choices=[("open", "Open"), ("paid", "Paid")], default="open", max_length=10),
        ),
        migrations.RemoveField("review", "stars"),
        migrations.DeleteModel("Review"),
        *(
            migrations.AlterField(
                model,
                "id",
                models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
            )
            for model in ("maker", "product", "purchase", "line")
        ),
        migrations.RunSQL(
            "CREATE VIEW store_open AS SELECT count(*) AS n FROM store_purchase WHERE state = 'open'",
            "DROP VIEW store_open",
        ),
        migrations.RunSQL(
            [("UPDATE store_goods SET note = note || %s WHERE note <> %s", [".", ""])], migrations.RunSQL.noop
        ),
    ]
