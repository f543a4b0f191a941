from django.contrib import admin

from store import models


class Lines(admin.TabularInline):
    model = models.Line
    extra = 0


@admin.register(models.Purchase)
class Purchases(admin.ModelAdmin):
    list_display = ["customer", "placed", "state"]
    list_select_related = ["customer"]
    list_filter = ["state"]
    inlines = [Lines]


@admin.register(models.Product)
class Products(admin.ModelAdmin):
    list_display = ["title", "maker", "price"]
    list_filter = ["maker"]
    search_fields = ["title", "maker__name"]
    date_hierarchy = "made"
    ordering = ["title"]


admin.site.register([models.Maker, models.Customer, models.Tag])
