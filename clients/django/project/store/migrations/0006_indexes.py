import django.contrib.postgres.indexes
import django.db.models.functions.datetime
import django.db.models.functions.text
from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models
from django.db.models import F, Q


class Migration(migrations.Migration):
    # An index that is made beside writers can't be made in a transaction.
    atomic = False
    dependencies = [("store", "0005_constraints")]
    operations = [
        migrations.AddField(
            "product", "added", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())
        ),
        migrations.AddIndex(
            "product",
            models.Index(django.db.models.functions.text.Lower("title"), F("price").desc(), name="goods_title"),
        ),
        migrations.AddIndex("product", models.Index(condition=Q(stock__gt=0), fields=["made"], name="goods_stocked")),
        migrations.RenameIndex("product", "goods_in_stock", old_name="goods_stocked"),
        AddIndexConcurrently("product", models.Index(fields=["maker"], include=("price",), name="goods_covering")),
        migrations.AddIndex("product", django.contrib.postgres.indexes.HashIndex(fields=["code"], name="goods_code")),
        AddIndexConcurrently(
            "product", django.contrib.postgres.indexes.BrinIndex(fields=["added"], name="goods_added")
        ),
        AddIndexConcurrently("product", models.Index(fields=["-stock", "price"], name="goods_passing")),
        RemoveIndexConcurrently("product", "goods_passing"),
    ]
