"""Django: migrations of its own applications and of a store, there and back, then the store in use.

Each test says what Django promises of PostgreSQL; none of them knows Freestone.
"""

import datetime
import decimal
import io
import json
import os
import sys
import threading
import unittest
import uuid

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "support"), os.path.join(HERE, "project")]
os.environ["DJANGO_SETTINGS_MODULE"] = "settings"

import django
import tests

django.setup()

from django.contrib.admin.models import LogEntry
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission
from django.contrib.contenttypes.models import ContentType
from django.contrib.postgres.aggregates import ArrayAgg, BoolOr, JSONBAgg, StringAgg
from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.indexes import GinIndex
from django.contrib.sessions.backends.db import SessionStore
from django.core.management import call_command
from django.db import (
    DatabaseError,
    DataError,
    IntegrityError,
    NotSupportedError,
    OperationalError,
    connection,
    connections,
    models,
    transaction,
)
from django.db.migrations.executor import MigrationExecutor
from django.db.models import (
    Avg,
    Case,
    Count,
    Exists,
    ExpressionWrapper,
    F,
    Max,
    Min,
    OuterRef,
    Prefetch,
    Q,
    StdDev,
    Subquery,
    Sum,
    Value,
    When,
    Window,
)
from django.db.models.fields.json import KT
from django.db.models.functions import (
    Cast,
    Coalesce,
    Concat,
    DenseRank,
    ExtractWeekDay,
    ExtractYear,
    FirstValue,
    Greatest,
    JSONObject,
    Lag,
    Left,
    Length,
    Lower,
    Now,
    NthValue,
    Ntile,
    Rank,
    Round,
    RowNumber,
    StrIndex,
    TruncDate,
    TruncMonth,
    Upper,
)
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from store.models import Customer, Line, Maker, Product, Purchase, Tag

CONTRIB = ["admin", "auth", "contenttypes", "sessions"]
STORE = [
    "0001_first",
    "0002_more_fields",
    "0003_other_types",
    "0004_other_names",
    "0005_constraints",
    "0006_indexes",
    "0007_late",
]
UTC = datetime.timezone.utc
D = decimal.Decimal


def call(*arguments, **options):
    out = io.StringIO()
    call_command(*arguments, stdout=out, stderr=out, no_color=True, **options)
    return out.getvalue()


def migrate(*where):
    return call("migrate", *where, interactive=False, verbosity=1)


def ask(sql, *values):
    with connection.cursor() as cursor:
        cursor.execute(sql, values or None)
        return cursor.fetchall() if cursor.description else cursor.rowcount


def ours(tables):
    applications = (*CONTRIB, "store", "django")
    return sorted(name for name in tables if name.startswith(tuple(f"{a}_" for a in applications)))


def schema():
    """The tables as Django's introspection tells them; names of constraints and indexes are of no account."""
    found = {}
    look = connection.introspection
    kind = lambda c: "ArrayField" if c.type_code == 1015 else look.get_field_type(c.type_code, c)
    with connection.cursor() as cursor:
        for table in ours(look.table_names(cursor, include_views=True)):
            columns = look.get_table_description(cursor, table)
            constraints = look.get_constraints(cursor, table)
            for constraint in constraints.values():
                constraint.pop("definition", None)
            found[table] = {
                "columns": sorted(
                    (c.name, kind(c), c.display_size, c.precision, c.scale, c.null_ok, c.default, c.comment)
                    for c in columns
                ),
                "constraints": sorted(json.dumps(c, sort_keys=True) for c in constraints.values()),
                "relations": look.get_relations(cursor, table),
                "sequences": sorted((s["table"], s["column"]) for s in look.get_sequences(cursor, table)),
            }
    return found


def empty():
    """Leaves nothing of what earlier runs made."""
    with connection.cursor() as cursor:
        cursor.execute("DROP VIEW IF EXISTS store_open")
        for table in ours(connection.introspection.table_names(cursor)):
            cursor.execute(f"DROP TABLE IF EXISTS {table} CASCADE")


def all_there():
    """Leaves the tables of the last migrations, with rows or without."""
    if "No planned migration operations" not in call("migrate", plan=True):
        connection.close()
        empty()
        migrate()


class Migrations(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        connection.close()
        empty()

    def test_contrib_there_and_back(self):
        self.assertIn("Applying admin.0003", migrate())
        self.assertEqual(ContentType.objects.get(model="user").app_label, "auth")
        self.assertEqual(Permission.objects.filter(content_type__app_label="auth").count(), 12)
        there = schema()
        user = dict((column[0], column[1:3]) for column in there["auth_user"]["columns"])
        self.assertEqual(user["username"], ("CharField", 150))
        self.assertEqual(user["last_login"][0], "DateTimeField")
        self.assertEqual(there["auth_user"]["sequences"], [("auth_user", "id")])
        # Before the eighth a name has 30 characters.
        migrate("auth", "0007")
        columns = {column[0]: column[2] for column in schema()["auth_user"]["columns"]}
        self.assertEqual(columns["username"], 30)
        migrate("auth")
        self.assertEqual(schema(), there)
        migrate("store", "zero")
        for application in CONTRIB:
            migrate(application, "zero")
        self.assertEqual(list(schema()), ["django_migrations"])
        self.assertEqual(ask("SELECT count(*) FROM django_migrations"), [(0,)])
        migrate()
        self.assertEqual(schema(), there)

    def test_store_there_and_back(self):
        seen = {}
        for name in STORE:
            migrate("store", name)
            seen[name] = schema()
            if name == "0001_first":
                self.fill_the_first()
        made = Product.objects.select_related("maker").get(title="hammer")
        self.assertEqual(
            (made.maker.name, made.price, made.stock, made.made, made.note, made.details, made.labels, made.grade),
            ("Anvil", D("12.50"), 10, datetime.date(2024, 1, 5), "heavy.", {}, [], 1),
        )
        self.assertEqual((made.code, made.worth), (uuid.uuid5(uuid.NAMESPACE_OID, str(made.pk)), D("125.00")))
        self.assertEqual(Product.objects.get(title="nail").note, "")
        self.assertEqual([(line.count, line.gift) for line in Line.objects.all()], [(2, None)])
        self.assertEqual(ask("SELECT n FROM store_open"), [(1,)])
        # Keys go on where they were.
        self.assertEqual(Maker.objects.create(name="Later", country="AT").pk, 2)
        for name in reversed(STORE[:-1]):
            migrate("store", name)
            self.assertEqual(schema(), seen[name], f"back at {name}")
        self.assertEqual(
            ask("SELECT name, price, stock, made, note FROM store_product ORDER BY id"),
            [("hammer", 12.5, 10, "2024-01-05", "heavy."), ("nail", 0.1, 1000, "2024-02-29", "")],
        )
        migrate("store", "zero")
        self.assertEqual([t for t in schema() if t.startswith("store_")], [])
        migrate("store")
        self.assertEqual(schema(), seen[STORE[-1]])

    def fill_the_first(self):
        apps = MigrationExecutor(connection).loader.project_state(("store", STORE[0])).apps
        get = lambda name: apps.get_model("store", name)
        maker = get("Maker").objects.create(name="Anvil", land="DE")
        product = get("Product").objects
        hammer = product.create(maker=maker, name="hammer", price=12.5, stock=10, made="2024-01-05", note="heavy")
        product.create(maker=maker, name="nail", price=0.1, stock=1000, made="2024-02-29")
        customer = get("Customer").objects.create(email="Ann@x.org", name="ann")
        order = get("Order").objects.create(customer=customer, placed=datetime.datetime(2024, 3, 1, tzinfo=UTC))
        get("Line").objects.create(order=order, product=hammer, count=2)

    def test_what_migrations_made(self):
        migrate()
        self.assertIn("No changes detected", call("makemigrations", check=True, dry_run=True))
        self.assertIn("No planned migration operations", call("migrate", plan=True))
        self.assertEqual(call("migrate", check_unapplied=True), "")
        shown = call("showmigrations", "store")
        self.assertEqual(shown.count("[X]"), len(STORE), shown)
        self.assertNotIn("[ ]", shown)
        with connection.cursor() as cursor:
            tables = connection.introspection.get_table_list(cursor)
            sequences = connection.introspection.get_sequences(cursor, "store_goods")
        self.assertEqual([t.comment for t in tables if t.name == "store_goods"], ["all that is sold"])
        self.assertEqual([t.type for t in tables if t.name == "store_open"], ["v"])
        self.assertEqual(sequences[0]["column"], "id")
        shown = call("inspectdb", "store_goods", "store_line")
        for part in (
            "class StoreGoods(models.Model):",
            "id = models.BigAutoField(primary_key=True)",
            "maker = models.ForeignKey('StoreMaker', models.DO_NOTHING)",
            "title = models.CharField(max_length=100)",
            "price = models.DecimalField(max_digits=12, decimal_places=2)",
            "details = models.JSONField()",
            "code = models.UUIDField(unique=True)",
            "made = models.DateField(db_comment='the day it was made')",
            "db_table_comment = 'all that is sold'",
            "('product', 'gift')",
            "('purchase', 'product')",
        ):
            self.assertIn(part, shown)

    def test_indexes_are_told_as_they_were_made(self):
        migrate()
        with connection.cursor() as cursor:
            found = connection.introspection.get_constraints(cursor, "store_goods")
        kinds = {
            name: (
                found[name]["columns"],
                found[name]["index"],
                found[name]["unique"],
                found[name]["check"],
                found[name].get("type"),
                found[name].get("orders"),
            )
            for name in found
            if name.startswith(("goods_", "price_", "title_"))
        }
        self.assertEqual(
            kinds,
            {
                "goods_title": ([None, "price"], True, False, False, "idx", ["ASC", "DESC"]),
                "goods_in_stock": (["made"], True, False, False, "idx", ["ASC"]),
                "goods_covering": (["maker_id", "price"], True, False, False, "idx", ["ASC", "ASC"]),
                "goods_code": (["code"], True, False, False, "hash", []),
                "goods_added": (["added"], True, False, False, "brin", []),
                "price_not_negative": (["price"], False, False, True, None, None),
                "title_of_maker": (["maker_id", None], True, True, False, "idx", ["ASC", "ASC"]),
            },
        )

    def test_indexes_over_parts_of_values(self):
        migrate()
        indexes = [GinIndex(fields=[name], name=f"goods_{name}") for name in ("details", "labels")]
        with connection.schema_editor() as editor:
            for index in indexes:
                editor.add_index(Product, index)
        with connection.cursor() as cursor:
            found = connection.introspection.get_constraints(cursor, "store_goods")
        with connection.schema_editor() as editor:
            for index in indexes:
                editor.remove_index(Product, index)
        self.assertEqual([found[index.name]["type"] for index in indexes], ["gin", "gin"])

    def test_a_migration_that_fails_leaves_nothing(self):
        migrate("store", "0004")
        before = schema()
        Maker.objects.create(name="Old", country="DE", founded=7)
        with self.assertRaisesRegex(IntegrityError, "founded_late"):
            migrate("store", "0005")
        self.assertEqual(schema(), before)
        self.assertNotIn("[X] 0005", call("showmigrations", "store"))
        Maker.objects.all().delete()
        migrate("store")

    def test_written_as_a_script(self):
        migrate()
        there = schema()
        for name, before in zip(reversed(STORE), [*reversed(STORE[:-1]), "zero"]):
            self.run_script(call("sqlmigrate", "store", name, backwards=True))
            call("migrate", "store", before, fake=True)
        self.assertEqual([t for t in schema() if t.startswith("store_")], [])
        for name in STORE:
            # A constraint that this one drops and makes anew is dropped twice by what Django writes.
            if name != "0004_other_names":
                self.run_script(call("sqlmigrate", "store", name))
            call("migrate", "store", name, fake=name != "0004_other_names")
        self.assertEqual(schema(), there)

    def run_script(self, script):
        lines = (line.strip() for line in script.splitlines())
        for statement in lines:
            if statement and not statement.startswith("--"):
                ask(statement)


class Store(unittest.TestCase):
    """Each test is within a transaction, which is taken back."""

    maxDiff = None

    def setUp(self):
        all_there()
        transaction.set_autocommit(False)
        self.addCleanup(transaction.set_autocommit, True)
        self.addCleanup(transaction.rollback)
        fill()

    def test_aggregates(self):
        goods = Product.objects
        self.assertEqual(
            goods.aggregate(Sum("stock"), Avg("price"), Max("made"), Min("title"), n=Count("maker", distinct=True)),
            {
                "stock__sum": 17,
                "price__avg": D("23.875"),
                "made__max": datetime.date(2024, 5, 1),
                "title__min": "bowl",
                "n": 3,
            },
        )
        self.assertEqual(
            goods.aggregate(
                cheap=Count("pk", filter=Q(price__lt=15)),
                none=Sum("stock", filter=Q(price__gt=1000), default=0),
                spread=Round(StdDev("price"), 3),
            ),
            {"cheap": 2, "none": 0, "spread": D("18.474")},
        )
        self.assertEqual(
            list(goods.values("maker__name").annotate(n=Count("*"), sum=Sum("price")).order_by("-n", "maker__name")),
            [
                {"maker__name": "Anvil", "n": 2, "sum": D("20.50")},
                {"maker__name": "Brook", "n": 1, "sum": D("20.00")},
                {"maker__name": "Cedar", "n": 1, "sum": D("55.00")},
            ],
        )
        spent = Sum(F("lines__count") * F("lines__product__price"), default=Value(D(0)))
        self.assertEqual(
            list(Customer.objects.values_list("name").annotate(n=Count("purchases__lines")).order_by("name")),
            [("ann", 3), ("bob", 2), ("eve", 0)],
        )
        self.assertEqual(
            list(
                Purchase.objects.annotate(spent=spent)
                .filter(spent__gt=40)
                .order_by("placed")
                .values_list("spent", flat=True)
            ),
            [D("45.00"), D("55.00")],
        )
        self.assertEqual(
            Maker.objects.annotate(n=Count("products")).aggregate(Avg("n"), Max("n")), {"n__avg": 4 / 3, "n__max": 2}
        )
        self.assertEqual(
            list(
                Maker.objects.values("country")
                .annotate(
                    names=StringAgg("name", "+", ordering="name"),
                    ids=ArrayAgg("name", ordering="-name"),
                    old=BoolOr(Q(founded__lt=1920)),
                    both=JSONBAgg(JSONObject(n="name", f="founded"), ordering="name"),
                )
                .order_by("country")
            ),
            [
                {
                    "country": "DE",
                    "names": "Anvil+Cedar",
                    "ids": ["Cedar", "Anvil"],
                    "old": True,
                    "both": [{"n": "Anvil", "f": 1900}, {"n": "Cedar", "f": None}],
                },
                {
                    "country": "FR",
                    "names": "Brook",
                    "ids": ["Brook"],
                    "old": False,
                    "both": [{"n": "Brook", "f": 1950}],
                },
            ],
        )

    def test_annotations(self):
        goods = Product.objects.annotate(
            size=Case(
                When(price__gte=50, then=Value("dear")), When(price__gte=10, then=Value("fair")), default=Value("cheap")
            ),
            name=Concat(Upper(Left("title", 1)), Value("-"), "maker__country", output_field=models.CharField()),
            year=ExtractYear("made"),
            month=TruncMonth("made"),
            older=Coalesce("maker__founded", Value(2000)),
            more=Greatest("stock", Value(3)),
            text=Cast("price", models.TextField()),
            at=StrIndex("title", Value("o")),
            long=Length("title"),
        )
        self.assertEqual(
            list(goods.values_list("size", "name", "year", "month", "older", "more", "text", "at", "long")),
            [
                ("fair", "H-DE", 2024, datetime.date(2024, 1, 1), 1900, 10, "12.50", 0, 6),
                ("cheap", "C-DE", 2024, datetime.date(2024, 2, 1), 1900, 3, "8.00", 0, 6),
                ("fair", "B-FR", 2024, datetime.date(2024, 2, 1), 1950, 5, "20.00", 2, 4),
                ("dear", "S-DE", 2024, datetime.date(2024, 5, 1), 2000, 3, "55.00", 3, 5),
            ],
        )
        days = Purchase.objects.annotate(
            day=TruncDate("placed"), week_day=ExtractWeekDay("placed"), gone=Now() - F("placed")
        )
        # The evening of March 31 in UTC is April 1 in Vienna.
        self.assertEqual(
            list(days.order_by("placed").values_list("day", "week_day")),
            [(datetime.date(2024, 3, 1), 6), (datetime.date(2024, 3, 5), 3), (datetime.date(2024, 4, 1), 2)],
        )
        self.assertGreater(days.first().gone, datetime.timedelta(days=300))
        self.assertEqual([p.title for p in Product.objects.alias(n=Count("lines")).filter(n=0)], [])
        late = ExpressionWrapper(F("placed") + datetime.timedelta(days=2), output_field=models.DateTimeField())
        self.assertEqual(
            Purchase.objects.annotate(late=late).earliest().late, datetime.datetime(2024, 3, 3, 10, tzinfo=UTC)
        )

    def test_lookups(self):
        titles = lambda *q, **where: [p.title for p in Product.objects.filter(*q, **where)]
        self.assertEqual(titles(title__icontains="OO"), ["stool"])
        self.assertEqual(titles(title__startswith="h"), ["hammer"])
        self.assertEqual(titles(title__iexact="Bowl"), ["bowl"])
        self.assertEqual(titles(title__iregex="^[CH].*"), ["hammer", "chisel"])
        self.assertEqual(titles(title__endswith="50%"), [])
        self.assertEqual(titles(price__range=(8, 20)), ["hammer", "chisel", "bowl"])
        self.assertEqual(titles(made__month=2, made__day__gt=10), ["bowl"])
        self.assertEqual(titles(made__week=1), ["hammer"])
        self.assertEqual(titles(made__iso_year=2024, made__quarter=2), ["stool"])
        self.assertEqual(titles(maker__founded__isnull=True), ["stool"])
        self.assertEqual(titles(~Q(maker__country="DE") | Q(stock=0)), ["chisel", "bowl"])
        self.assertEqual(titles(price__gt=F("stock") * 10), ["chisel", "stool"])
        self.assertEqual(titles(pk__in=Line.objects.filter(count__gt=1).values("product")), ["hammer", "chisel"])
        self.assertEqual(titles(code__in=[p.code for p in Product.objects.all()[:1]]), ["hammer"])
        self.assertEqual(titles(code__icontains="-"), ["hammer", "chisel", "bowl", "stool"])
        self.assertEqual(titles(tags__label="new", labels__len=2), ["hammer"])
        self.assertEqual(titles(lines__purchase__customer__name="bob"), ["hammer", "chisel"])
        self.assertEqual(titles(title__in=[]), [])
        self.assertEqual(Purchase.objects.filter(placed__date=datetime.date(2024, 4, 1)).count(), 1)
        self.assertEqual(Purchase.objects.filter(placed__time__lt=datetime.time(1)).count(), 1)
        self.assertEqual(Purchase.objects.filter(placed__hour=11, placed__year__gte=2024).count(), 1)
        self.assertEqual(
            list(Purchase.objects.datetimes("placed", "month")),
            [
                datetime.datetime(2024, 3, 1, tzinfo=timezone.get_current_timezone()),
                datetime.datetime(2024, 4, 1, tzinfo=timezone.get_current_timezone()),
            ],
        )
        self.assertEqual(list(Product.objects.dates("made", "month", order="DESC"))[0], datetime.date(2024, 5, 1))
        self.assertEqual(
            [m.name for m in Maker.objects.order_by(F("founded").desc(nulls_last=True))], ["Brook", "Anvil", "Cedar"]
        )
        self.assertEqual(
            [p.title for p in Product.objects.order_by("maker__country", "-price").distinct("maker__country")],
            ["stool", "bowl"],
        )
        names = Maker.objects.values_list("country").intersection(
            Maker.objects.filter(name="Brook").values_list("country")
        )
        self.assertEqual(list(names), [("FR",)])
        names = Maker.objects.values_list("country").difference(
            Maker.objects.filter(name="Brook").values_list("country")
        )
        self.assertEqual(list(names), [("DE",)])
        self.assertEqual(
            list(Product.objects.values_list("title").union(Maker.objects.values_list("name")).order_by("title")[:4]),
            [("Anvil",), ("Brook",), ("Cedar",), ("bowl",)],
        )

    def test_subqueries(self):
        last = Purchase.objects.filter(customer=OuterRef("pk")).order_by("-placed")
        people = Customer.objects.annotate(
            last=Subquery(last.values("state")[:1]),
            any=Exists(last.filter(state="paid")),
            n=Coalesce(Subquery(last.order_by().values("customer").annotate(n=Count("*")).values("n")), 0),
            all=ArraySubquery(last.values("state")),
        ).order_by("name")
        self.assertEqual(
            list(people.values_list("name", "last", "any", "n", "all")),
            [
                ("ann", "open", True, 2, ["open", "paid"]),
                ("bob", "paid", True, 1, ["paid"]),
                ("eve", None, False, 0, []),
            ],
        )
        self.assertEqual([c.name for c in Customer.objects.filter(~Exists(last))], ["eve"])
        self.assertEqual([c.name for c in people.filter(Q(any=True) & Q(n__lt=2))], ["bob"])
        dearest = Product.objects.filter(
            price=Subquery(
                Product.objects.filter(maker=OuterRef("maker")).values("maker").annotate(m=Max("price")).values("m")
            )
        )
        self.assertEqual([p.title for p in dearest], ["hammer", "bowl", "stool"])
        self.assertEqual(
            [c.name for c in Customer.objects.exclude(purchases__lines__product__title="bowl").order_by("name")],
            ["bob", "eve"],
        )
        self.assertEqual(
            Product.objects.filter(Exists(Line.objects.filter(product=OuterRef("pk"), count__gte=2))).update(grade=5), 2
        )

    def test_related(self):
        lines = Line.objects.select_related("purchase__customer", "product__maker").order_by("pk")
        with CaptureQueriesContext(connection) as queries:
            found = [(line.purchase.customer.name, line.product.maker.name, line.count) for line in lines]
        self.assertEqual(len(queries), 1)
        self.assertEqual(found[0], ("ann", "Anvil", 2))
        self.assertEqual(len(found), 5)
        with CaptureQueriesContext(connection) as queries:
            people = Customer.objects.order_by("name").prefetch_related(
                Prefetch("purchases", Purchase.objects.order_by("placed").prefetch_related("products__tags"))
            )
            found = [
                [[sorted(t.label for t in g.tags.all()) for g in p.products.all()] for p in c.purchases.all()]
                for c in people
            ]
        self.assertEqual(len(queries), 4)
        self.assertEqual(found[0][1], [["new"]])
        # Of a partner, only some of its rows.
        makers = Maker.objects.order_by("name").prefetch_related(
            Prefetch("products", Product.objects.order_by("-price")[:1], to_attr="dearest")
        )
        self.assertEqual([[p.title for p in m.dearest] for m in makers], [["hammer"], ["bowl"], ["stool"]])
        hammer = Product.objects.get(title="hammer")
        hammer.tags.set([Tag.objects.get(label="sale")])
        self.assertEqual([t.label for t in hammer.tags.all()], ["sale"])
        hammer.tags.add(*Tag.objects.all())
        self.assertEqual(hammer.tags.count(), 2)
        hammer.tags.clear()
        self.assertEqual(Product.objects.only("title").defer("details").get(pk=hammer.pk).title, "hammer")
        self.assertEqual(set(Tag.objects.in_bulk(["new", "sale"], field_name="label")), {"new", "sale"})

    def test_writing(self):
        anvil = Maker.objects.get(name="Anvil")
        new = [Maker(name="Anvil", country="IT", founded=1999), Maker(name="Delta", country="NL")]
        Maker.objects.bulk_create(new, update_conflicts=True, unique_fields=["name"], update_fields=["country"])
        self.assertEqual(new[0].pk, anvil.pk)
        self.assertEqual(
            list(
                Maker.objects.filter(name__in=["Anvil", "Delta"])
                .order_by("name")
                .values_list("name", "country", "founded")
            ),
            [("Anvil", "IT", 1900), ("Delta", "NL", None)],
        )
        Maker.objects.bulk_create(
            [Maker(name="Delta", country="XX"), Maker(name="Echo", country="XX")], ignore_conflicts=True
        )
        self.assertEqual(Maker.objects.filter(country="XX").count(), 1)
        made = Maker.objects.bulk_create([Maker(name=f"m{n}", country="ZZ") for n in range(250)], batch_size=100)
        self.assertEqual(len({m.pk for m in made} - {None}), 250)
        for m in made:
            m.founded = 1500 + int(m.name[1:])
        self.assertEqual(Maker.objects.bulk_update(made, ["founded"], batch_size=100), 250)
        self.assertEqual(Maker.objects.get(name="m17").founded, 1517)
        self.assertEqual(Maker.objects.update_or_create(name="Echo", defaults={"founded": 1800})[1], False)
        self.assertEqual(Maker.objects.get_or_create(name="Foxtrot", defaults={"country": "PT"})[1], True)
        self.assertEqual(
            Product.objects.filter(maker=anvil).update(stock=F("stock") + 5, price=F("price") * D("1.1")), 2
        )
        hammer = Product.objects.get(title="hammer")
        # A column that the database computes comes along.
        self.assertEqual((hammer.stock, hammer.price, hammer.worth), (15, D("13.75"), D("206.25")))
        hammer.stock = F("stock") - 1
        hammer.save()
        hammer.refresh_from_db()
        self.assertEqual((hammer.stock, hammer.worth), (14, D("192.50")))
        Product.objects.update(note=Case(When(stock__gt=4, then=Value("many")), default=F("title")))
        self.assertEqual(list(Product.objects.values_list("note", flat=True)), ["many", "many", "many", "stool"])
        made = Product.objects.create(maker=anvil, title="saw", price=3, made="2024-06-01")
        self.assertEqual(made.grade, 3)
        self.assertLess(abs(timezone.now() - made.added), datetime.timedelta(hours=1))
        made.delete()
        with self.assertRaises(models.ProtectedError):
            Maker.objects.get(name="Brook").delete()
        self.assertEqual(Purchase.objects.get(state="open").delete()[1], {"store.Purchase": 1, "store.Line": 1})
        self.assertEqual(Line.objects.filter(purchase__customer__name="bob").delete()[0], 2)
        self.assertEqual(Maker.objects.filter(country="ZZ").delete()[0], 250)

    def test_json(self):
        titles = lambda *q, **where: [p.title for p in Product.objects.filter(*q, **where)]
        self.assertEqual(titles(details__weight=700), ["hammer"])
        self.assertEqual(titles(details__weight__gt=100), ["hammer", "chisel"])
        self.assertEqual(titles(details__contains={"box": {"deep": True}}), ["bowl"])
        self.assertEqual(titles(details__contained_by={"weight": 150, "x": 1}), ["chisel", "stool"])
        self.assertEqual(titles(details__has_key="colour"), ["bowl"])
        self.assertEqual(titles(details__has_any_keys=["colour", "sizes"]), ["hammer", "bowl"])
        self.assertEqual(titles(details__has_keys=["weight", "sizes"]), ["hammer"])
        self.assertEqual(titles(details__sizes__0=1), ["hammer"])
        self.assertEqual(titles(details__box__deep=True), ["bowl"])
        self.assertEqual(titles(details__box__isnull=False), ["bowl"])
        self.assertEqual(titles(details__colour__icontains="LU"), ["bowl"])
        self.assertEqual(titles(details__colour__in=["blue", "red"]), ["bowl"])
        self.assertEqual(titles(details={}), ["stool"])
        self.assertEqual(
            list(
                Product.objects.annotate(c=KT("details__colour")).exclude(c=None).values_list("c", "details__box__deep")
            ),
            [("blue", True)],
        )
        self.assertEqual(
            list(
                Product.objects.order_by(F("details__weight").asc(nulls_last=True)).values_list(
                    "details__weight", flat=True
                )
            ),
            [150, 700, None, None],
        )
        bowl = Product.objects.get(title="bowl")
        bowl.details = {"a": [1, 2.5, None, "ü\"'"], "b": {"c": False}}
        bowl.save()
        bowl.refresh_from_db()
        self.assertEqual(bowl.details, {"a": [1, 2.5, None, "ü\"'"], "b": {"c": False}})
        Product.objects.filter(title="stool").update(details=JSONObject(n=F("stock"), t=Upper("title")))
        self.assertEqual(Product.objects.get(title="stool").details, {"n": 2, "t": "STOOL"})
        Product.objects.filter(title="stool").update(details=Value(None, models.JSONField()))
        self.assertEqual(titles(details=Value(None, models.JSONField())), ["stool"])

    def test_arrays(self):
        titles = lambda *q, **where: [p.title for p in Product.objects.filter(*q, **where)]
        self.assertEqual(titles(labels__contains=["steel"]), ["hammer", "chisel"])
        self.assertEqual(titles(labels__contained_by=["steel", "wood"]), ["chisel", "bowl", "stool"])
        self.assertEqual(titles(labels__overlap=["tool", "wood"]), ["hammer", "stool"])
        self.assertEqual(titles(labels__len=0), ["bowl"])
        self.assertEqual(titles(labels__0="steel"), ["hammer", "chisel"])
        self.assertEqual(titles(labels__0_1=["steel"]), ["hammer", "chisel"])
        self.assertEqual(titles(labels=["steel", "tool"]), ["hammer"])
        self.assertEqual(
            list(
                Product.objects.annotate(l=models.Func("labels", function="unnest"))
                .values_list("l")
                .annotate(n=Count("*"))
                .order_by("-n", "l")
            ),
            [("steel", 2), ("tool", 1), ("wood", 1)],
        )
        Product.objects.filter(title="bowl").update(labels=["a", "b,c", 'd"e'])
        self.assertEqual(Product.objects.get(title="bowl").labels, ["a", "b,c", 'd"e'])
        # The statement has a cast to what the column holds, which cuts what is longer.
        Product.objects.update(labels=["x" * 21])
        self.assertEqual(Product.objects.get(title="bowl").labels, ["x" * 20])

    def test_windows(self):
        by_price = {"partition_by": "maker__country", "order_by": "-price"}
        goods = Product.objects.annotate(
            rank=Window(Rank(), **by_price),
            row=Window(RowNumber(), order_by=F("title").asc()),
            dense=Window(DenseRank(), order_by=TruncMonth("made")),
            before=Window(Lag("title", default=Value("-")), order_by="made"),
            dearest=Window(FirstValue("title"), **by_price),
            third=Window(NthValue("title", 3), order_by="pk"),
            half=Window(Ntile(2), order_by="pk"),
            so_far=Window(Sum("stock"), order_by="pk", frame=models.RowRange(start=None, end=0)),
            near=Window(Avg("price"), order_by="pk", frame=models.RowRange(start=-1, end=1)),
            share=Window(Count("*"), partition_by=[F("maker")]),
        )
        self.assertEqual(
            list(
                goods.values_list(
                    "title", "rank", "row", "dense", "before", "dearest", "third", "half", "so_far", "share"
                )
            ),
            [
                ("hammer", 2, 3, 1, "-", "stool", None, 1, 10, 2),
                ("chisel", 3, 2, 2, "hammer", "stool", None, 1, 10, 2),
                ("bowl", 1, 1, 2, "chisel", "bowl", "bowl", 2, 15, 1),
                ("stool", 1, 4, 3, "bowl", "stool", "bowl", 2, 17, 1),
            ],
        )
        self.assertEqual(
            list(goods.values_list("near", flat=True)), [D("10.25"), D("13.5"), D("27.6666666666666667"), D("37.5")]
        )
        self.assertEqual([p.title for p in goods.filter(rank=1)], ["bowl", "stool"])
        self.assertEqual([p.title for p in goods.filter(rank=1, stock__gt=2, half=2)], ["bowl"])
        most = Maker.objects.values("country").annotate(
            n=Count("*"), place=Window(RowNumber(), order_by=Count("*").desc())
        )
        self.assertEqual([(t["country"], t["n"], t["place"]) for t in most], [("DE", 2, 1), ("FR", 1, 2)])

    def test_savepoints(self):
        names = lambda: sorted(Tag.objects.values_list("label", flat=True))
        with self.assertRaises(IntegrityError), transaction.atomic():
            Tag.objects.create(label="gone")
            Tag.objects.create(label="new")
        self.assertEqual(names(), ["new", "sale"])
        with transaction.atomic():
            Tag.objects.create(label="outer")
            with self.assertRaises(ZeroDivisionError), transaction.atomic():
                Tag.objects.create(label="inner")
                raise ZeroDivisionError
            point = transaction.savepoint()
            Tag.objects.create(label="third")
            transaction.savepoint_rollback(point)
            transaction.savepoint_commit(transaction.savepoint())
        self.assertEqual(names(), ["new", "outer", "sale"])

    def test_constraints_hold(self):
        anvil = Maker.objects.get(name="Anvil")
        ann = Customer.objects.get(name="ann")
        for name, make in {
            "founded_late": lambda: Maker.objects.create(name="x", country="DE", founded=5),
            "price_not_negative": lambda: Product.objects.create(maker=anvil, title="x", price=-1, made="2024-01-01"),
            "title_of_maker": lambda: Product.objects.create(maker=anvil, title="HAMMER", price=1, made="2024-01-01"),
            "email_once": lambda: Customer.objects.create(email="ANN@x.org"),
            "one_open": lambda: Purchase.objects.create(customer=ann, placed=timezone.now()),
            "gift_once": lambda: Line.objects.filter(product__title="hammer").update(gift="ribbon"),
            "store_maker_name_.*uniq|store_maker_name_key": lambda: Maker.objects.create(name="Anvil", country="DE"),
            "store_line_count_.*check": lambda: Line.objects.update(count=-1),
        }.items():
            with self.assertRaisesRegex(IntegrityError, name), transaction.atomic():
                make()
        with self.assertRaises(DataError), transaction.atomic():
            Maker.objects.update(country="long")
        with self.assertRaises(DataError), transaction.atomic():
            Product.objects.update(price=D("1e11"))
        # Foreign keys and the rank are asked at the end; until then two may be the same.
        Customer.objects.filter(name="ann").update(rank=2)
        Customer.objects.filter(name="bob").update(rank=1)
        connection.check_constraints()
        with transaction.atomic():
            Customer.objects.update(rank=3)
            Customer.objects.filter(name="ann").update(rank=1)
            Customer.objects.filter(name="bob").update(rank=2)
        connection.check_constraints()
        with self.assertRaisesRegex(IntegrityError, "rank_once"), transaction.atomic():
            Customer.objects.update(rank=3)
            connection.check_constraints()
        with self.assertRaisesRegex(IntegrityError, "store_goods|store_product"), transaction.atomic():
            Product.objects.filter(title="bowl").update(maker=4711)
            connection.check_constraints()
        # The form's checks ask the same of the database.
        with self.assertRaisesRegex(Exception, "title_of_maker"):
            Product(maker=anvil, title="Hammer", price=1, made="2024-01-01").full_clean()

    def test_raw_and_explained(self):
        rows = Product.objects.raw("SELECT *, price * 2 AS twice FROM store_goods WHERE stock > %s ORDER BY id", [1])
        self.assertEqual([(p.title, p.twice) for p in rows][0], ("hammer", D("25.00")))
        self.assertIn("store_goods", Product.objects.filter(stock=1).explain())
        found = json.loads(Product.objects.explain(format="json"))
        self.assertIn("Plan", found[0])
        self.assertEqual(ask("SELECT %s::int, %s, %s", 5, "a'b", None), [(5, "a'b", None)])


class StoreByParameters(Store):
    """The same with values as parameters of the protocol, not within the text."""

    @classmethod
    def setUpClass(cls):
        connection.close()
        connection.settings_dict["OPTIONS"]["server_side_binding"] = True

    @classmethod
    def tearDownClass(cls):
        del connection.settings_dict["OPTIONS"]["server_side_binding"]
        connection.close()


class Committed(unittest.TestCase):
    """Tests of more than one transaction or connection."""

    def setUp(self):
        all_there()
        call("flush", interactive=False)
        fill()

    def beside(self, work):
        """Does work on a connection of its own, and gives what it gave or raised."""
        found = []

        def run():
            try:
                found.append(work())
            except DatabaseError as error:
                found.append(error)
            finally:
                connections.close_all()

        thread = threading.Thread(target=run)
        thread.start()
        thread.join(20)
        self.assertTrue(found, "it waits")
        return found[0]

    def test_locks(self):
        stock = Product.objects.filter(title__in=["hammer", "bowl"]).order_by("pk")
        with transaction.atomic():
            locked = Product.objects.select_for_update().get(title="hammer")
            free = self.beside(lambda: self.within(stock.select_for_update(skip_locked=True)))
            self.assertEqual([p.title for p in free], ["bowl"])
            self.assertIsInstance(
                self.beside(lambda: self.within(stock.select_for_update(nowait=True))), OperationalError
            )
            locked.stock = F("stock") - 1
            locked.save()
        self.assertEqual(Product.objects.get(title="hammer").stock, 9)
        with transaction.atomic():
            both = Line.objects.select_related("product", "purchase").select_for_update(of=("self",), no_key=True)
            self.assertEqual(len(both), 5)
            self.assertEqual(len(self.beside(lambda: self.within(stock.select_for_update(nowait=True)))), 2)
        with self.assertRaises(transaction.TransactionManagementError):
            list(stock.select_for_update())

    def within(self, rows):
        with transaction.atomic():
            return list(rows)

    def test_commit(self):
        done = []
        with transaction.atomic():
            Tag.objects.create(label="late")
            transaction.on_commit(lambda: done.append(1))
            self.assertEqual(self.beside(lambda: Tag.objects.count()), 2)
        self.assertEqual((done, self.beside(lambda: Tag.objects.count())), ([1], 3))
        with self.assertRaises(IntegrityError), transaction.atomic():
            Product.objects.filter(title="bowl").update(maker=4711)
        self.assertEqual(Product.objects.get(title="bowl").maker.name, "Brook")
        with transaction.atomic(durable=True):
            Customer.objects.filter(name="ann").update(rank=1)

    def test_rows_by_a_cursor(self):
        Maker.objects.bulk_create(Maker(name=f"m{n}", country="ZZ") for n in range(500))
        rows = Maker.objects.filter(country="ZZ").order_by("pk").iterator(chunk_size=100)
        self.assertEqual(next(rows).name, "m0")
        self.assertEqual(len(list(rows)), 499)
        with transaction.atomic():
            self.assertEqual(sum(1 for _ in Maker.objects.iterator(chunk_size=7)), 503)

    def test_fixtures(self):
        # A dump has milliseconds only.
        Product.objects.update(added=datetime.datetime(2024, 6, 1, 1, 2, 3, 45000, tzinfo=UTC))
        dumped = call("dumpdata", "store", "auth.user")
        before = [list(m.objects.order_by("pk").values()) for m in (Maker, Tag, Product, Customer, Purchase, Line)]
        call("flush", interactive=False)
        self.assertEqual(Product.objects.count(), 0)
        self.assertEqual(Maker.objects.create(name="first", country="DE").pk, 1)
        Maker.objects.all().delete()
        path = os.path.join(os.environ["CACHE"], "django.json")
        with open(path, "w", encoding="utf-8") as file:
            # Children come before parents; keys are asked at the end.
            json.dump(list(reversed(json.loads(dumped))), file)
        self.assertIn("Installed", call("loaddata", path))
        after = [list(m.objects.order_by("pk").values()) for m in (Maker, Tag, Product, Customer, Purchase, Line)]
        self.assertEqual(after, before)
        # Sequences go on behind the rows that were loaded.
        last = Maker.objects.latest("pk").pk
        self.assertEqual(Maker.objects.create(name="next", country="DE").pk, last + 1)
        broken = [row for row in json.loads(dumped) if row["model"] != "store.maker"]
        call("flush", interactive=False)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(broken, file)
        with self.assertRaises(IntegrityError):
            call("loaddata", path)
        self.assertEqual(Product.objects.count(), 0)
        ask(call("sqlsequencereset", "store").replace("BEGIN;", "").replace("COMMIT;", ""))
        ask(call("sqlflush").replace("BEGIN;", "").replace("COMMIT;", ""))

    def test_admin(self):
        user = get_user_model().objects.create_superuser("root", "root@x.org", "secret")
        group = Group.objects.create(name="readers")
        group.permissions.add(Permission.objects.get(codename="view_product"))
        reader = get_user_model().objects.create_user("reader", password="secret", is_staff=True)
        reader.groups.add(group)
        self.assertTrue(reader.has_perm("store.view_product"))
        self.assertFalse(reader.has_perm("store.change_product"))
        client = Client()
        self.assertTrue(client.login(username="root", password="secret"))
        get = lambda path: client.get(f"/admin/store/{path}").content.decode()
        self.assertIn("4 products", get("product/"))
        self.assertIn("2 results", get("product/?q=anvil"))
        self.assertIn("1 product", get("product/?made__year=2024&made__month=1"))
        self.assertIn("2 purchases", get("purchase/?state__exact=paid&o=1.-2"))
        maker = Maker.objects.get(name="Brook")
        answer = client.post("/admin/store/maker/add/", {"name": "Admin", "country": "SE", "founded": ""})
        self.assertEqual(answer.status_code, 302, answer.content)
        answer = client.post("/admin/store/maker/add/", {"name": "Admin", "country": "SE"})
        self.assertIn("already exists", answer.content.decode())
        self.assertIn("Are you sure", get(f"purchase/{Purchase.objects.first().pk}/delete/"))
        answer = client.post(f"/admin/store/purchase/{Purchase.objects.first().pk}/delete/", {"post": "yes"})
        self.assertEqual((answer.status_code, Purchase.objects.count()), (302, 2))
        self.assertIn("Brook", get(f"maker/{maker.pk}/change/"))
        self.assertEqual(
            list(LogEntry.objects.order_by("pk").values_list("user__username", "content_type__model", "action_flag")),
            [("root", "maker", 1), ("root", "purchase", 3)],
        )
        self.assertIn(
            "Admin", client.get(f"/admin/store/maker/{Maker.objects.get(name='Admin').pk}/history/").content.decode()
        )
        session = SessionStore()
        session["x"] = {"y": 1}
        session.save()
        self.assertEqual(SessionStore(session.session_key)["x"], {"y": 1})
        session.set_expiry(-5)
        session.save()
        call("clearsessions")
        self.assertFalse(session.exists(session.session_key))
        user.refresh_from_db()
        self.assertIsNotNone(user.last_login)


def fill():
    anvil, brook, cedar = Maker.objects.bulk_create(
        [
            Maker(name="Anvil", country="DE", founded=1900),
            Maker(name="Brook", country="FR", founded=1950),
            Maker(name="Cedar", country="DE"),
        ]
    )
    day = datetime.date
    make = Product.objects.create
    hammer = make(
        maker=anvil,
        title="hammer",
        price=D("12.50"),
        stock=10,
        labels=["steel", "tool"],
        details={"weight": 700, "sizes": [1, 2]},
        made=day(2024, 1, 5),
    )
    chisel = make(
        maker=anvil, title="chisel", price=8, labels=["steel"], details={"weight": 150}, made=day(2024, 2, 10)
    )
    bowl = make(
        maker=brook,
        title="bowl",
        price=20,
        stock=5,
        details={"colour": "blue", "box": {"deep": True}},
        made=day(2024, 2, 20),
    )
    stool = make(maker=cedar, title="stool", price=55, stock=2, labels=["wood"], made=day(2024, 5, 1))
    new, sale = (Tag.objects.create(label=label) for label in ("new", "sale"))
    hammer.tags.add(new, sale)
    stool.tags.add(new)
    ann, bob, _ = (Customer.objects.create(name=name, email=f"{name}@x.org") for name in ("ann", "bob", "eve"))
    at = lambda *when: datetime.datetime(2024, *when, tzinfo=UTC)
    first = Purchase.objects.create(customer=ann, placed=at(3, 1, 10), state="paid")
    second = Purchase.objects.create(customer=ann, placed=at(3, 5, 12))
    third = Purchase.objects.create(customer=bob, placed=at(3, 31, 22, 30), state="paid")
    Line.objects.bulk_create(
        [
            Line(purchase=first, product=hammer, count=2),
            Line(purchase=first, product=bowl),
            Line(purchase=second, product=stool),
            Line(purchase=third, product=chisel, count=3),
            Line(purchase=third, product=hammer),
        ]
    )


if __name__ == "__main__":
    tests.main()
