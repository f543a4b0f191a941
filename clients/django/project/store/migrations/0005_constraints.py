import django.db.models.functions.text
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("store", "0004_other_names")]
    operations = [
        migrations.AddConstraint(
            "maker", models.CheckConstraint(condition=Q(founded__gt=1000) | Q(founded=None), name="founded_late")
        ),
        migrations.AddConstraint(
            "product", models.CheckConstraint(condition=Q(price__gt=0), name="price_not_negative")
        ),
        migrations.AddConstraint(
            "product",
            models.UniqueConstraint("maker", django.db.models.functions.text.Lower("title"), name="title_of_maker"),
        ),
        migrations.AddConstraint(
            "customer", models.UniqueConstraint(django.db.models.functions.text.Lower("email"), name="email_once")
        ),
        migrations.AddConstraint(
            "customer",
            models.UniqueConstraint(deferrable=models.Deferrable["DEFERRED"], fields=("rank",), name="rank_once"),
        ),
        migrations.AddConstraint(
            "purchase", models.UniqueConstraint(condition=Q(state="open"), fields=("customer",), name="one_open")
        ),
        migrations.AddConstraint(
            "line", models.UniqueConstraint(fields=("product", "gift"), name="gift_once", nulls_distinct=True)
        ),
        # A constraint is replaced by one that says otherwise.
        migrations.RemoveConstraint("product", "price_not_negative"),
        migrations.AddConstraint(
            "product", models.CheckConstraint(condition=Q(price__gte=0), name="price_not_negative")
        ),
    ]
