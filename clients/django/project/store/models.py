"""The store as it is after the last migration."""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import BrinIndex, HashIndex
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower, Now


class Maker(models.Model):
    name = models.CharField(max_length=120, unique=True)
    country = models.CharField(max_length=2, db_index=True)
    founded = models.IntegerField(null=True, blank=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(founded__gt=1000) | Q(founded=None), name="founded_late")]

    def __str__(self):
        return self.name


class Tag(models.Model):
    label = models.SlugField(unique=True)


class Product(models.Model):
    maker = models.ForeignKey(Maker, models.CASCADE, related_name="products")
    title = models.CharField(max_length=100)
    price = models.DecimalField(max_digits=12, decimal_places=2)
    stock = models.BigIntegerField(default=0)
    details = models.JSONField(default=dict)
    labels = ArrayField(models.CharField(max_length=20), default=list)
    code = models.UUIDField(default=uuid.uuid4, unique=True)
    made = models.DateField(db_comment="the day it was made")
    note = models.TextField(blank=True, default="")
    added = models.DateTimeField(db_default=Now())
    grade = models.IntegerField(db_default=3)
    worth = models.GeneratedField(
        expression=F("price") * F("stock"),
        output_field=models.DecimalField(max_digits=20, decimal_places=2),
        db_persist=True,
    )
    tags = models.ManyToManyField(Tag, related_name="products")

    class Meta:
        db_table = "store_goods"
        db_table_comment = "all that is sold"
        ordering = ["id"]
        indexes = [
            models.Index(Lower("title"), F("price").desc(), name="goods_title"),
            models.Index(fields=["made"], condition=Q(stock__gt=0), name="goods_in_stock"),
            models.Index(fields=["maker"], include=["price"], name="goods_covering"),
            HashIndex(fields=["code"], name="goods_code"),
            BrinIndex(fields=["added"], name="goods_added"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(price__gte=0), name="price_not_negative"),
            models.UniqueConstraint("maker", Lower("title"), name="title_of_maker"),
        ]

    def __str__(self):
        return self.title


class Customer(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    email = models.EmailField()
    name = models.CharField(max_length=60)
    active = models.BooleanField(default=True)
    rank = models.SmallIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(Lower("email"), name="email_once"),
            models.UniqueConstraint(fields=["rank"], name="rank_once", deferrable=models.Deferrable.DEFERRED),
        ]

    def __str__(self):
        return self.name


class Purchase(models.Model):
    customer = models.ForeignKey(Customer, models.CASCADE, related_name="purchases")
    placed = models.DateTimeField()
    state = models.CharField(max_length=10, default="open", choices=[("open", "Open"), ("paid", "Paid")])
    products = models.ManyToManyField(Product, through="Line", related_name="purchases")

    class Meta:
        get_latest_by = "placed"
        constraints = [models.UniqueConstraint(fields=["customer"], condition=Q(state="open"), name="one_open")]


class Line(models.Model):
    purchase = models.ForeignKey(Purchase, models.CASCADE, related_name="lines")
    product = models.ForeignKey(Product, models.PROTECT, related_name="lines")
    count = models.PositiveIntegerField(default=1)
    gift = models.CharField(max_length=30, null=True)

    class Meta:
        unique_together = [("purchase", "product")]
        constraints = [models.UniqueConstraint(fields=["product", "gift"], name="gift_once", nulls_distinct=True)]
