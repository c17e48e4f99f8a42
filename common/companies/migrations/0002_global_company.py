"""The company `_global`: home of the shared agents, and the default of everything."""

from django.db import migrations


def make_global(apps, schema_editor):
    company = apps.get_model("companies", "Company")
    company.objects.get_or_create(slug="_global", defaults={"name": "共享 Global"})


class Migration(migrations.Migration):
    dependencies = [("companies", "0001_initial")]
    operations = [migrations.RunPython(make_global, migrations.RunPython.noop)]
