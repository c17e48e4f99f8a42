"""Append-only tables take rows and keep them: no way through the application, or past it in SQL, changes one."""

import pytest
from django.db import DatabaseError, connection, models, transaction
from django.db.utils import IntegrityError

from agents.models import AgentVersion, DocumentVersion, ProtectedAccess
from common.append_only import append_only_models, install, missing
from common.receipts.models import Receipt, ReceiptLine, ReceiptText
from tests.conftest import append_only_lifted
from tests.house.api_world import build

pytestmark = pytest.mark.django_db

MODELS = [Receipt, ReceiptLine, ReceiptText, AgentVersion, DocumentVersion, ProtectedAccess]


@pytest.fixture(autouse=True)
def rows(acme):
    build(acme, "kept")
    # PostgreSQL truncates no table whose foreign keys are still to be checked.
    connection.check_constraints()


def row_of(model):
    return model._base_manager.order_by("pk").first()


def dump(model):
    return list(model._base_manager.order_by("pk").values())


def text_column(model):
    """A column that a forger would like to change."""
    names = {Receipt: "actor_name", ReceiptLine: "target", ReceiptText: "field", AgentVersion: "author"}
    return names.get(model, "sha256" if model is DocumentVersion else "path")


def plain(model):
    """The rows through an ordinary queryset, as a developer in a hurry would write it."""
    return models.QuerySet(model).order_by("pk")


def orm_ways(model):
    row, column = row_of(model), text_column(model)
    yield "save", lambda: row.save()
    yield "save of one column", lambda: row.save(update_fields=[column])
    yield "delete", lambda: row.delete()
    yield "update", lambda: model.objects.filter(pk=row.pk).update(**{column: "forged"})
    yield "delete of a queryset", lambda: model.objects.all().delete()
    yield "bulk update", lambda: model.objects.bulk_update([row], [column])
    yield "update or create", lambda: model.objects.update_or_create(pk=row.pk, defaults={column: "forged"})
    yield "update of a plain queryset", lambda: plain(model).filter(pk=row.pk).update(**{column: "forged"})
    yield "delete of a plain queryset", lambda: plain(model).filter(pk=row.pk)._raw_delete("default")
    yield "save past the model", lambda: models.Model.save_base(_forged(row, column), force_update=True)
    yield "upsert", lambda: _upsert(model, _forged(row, column), column)


def _forged(row, column):
    setattr(row, column, "forged")
    return row


def _upsert(model, row, column):
    plain(model).bulk_create([row], update_conflicts=True, unique_fields=["id"], update_fields=[column])


def sql_ways(model):
    table, column, pk = model._meta.db_table, text_column(model), row_of(model).pk
    yield "UPDATE", f"UPDATE {table} SET {column} = 'forged' WHERE id = {pk}"
    yield "UPDATE of all", f"UPDATE {table} SET {column} = 'forged'"
    yield "UPDATE of the key", f"UPDATE {table} SET id = id + 100000 WHERE id = {pk}"
    yield "DELETE", f"DELETE FROM {table} WHERE id = {pk}"
    yield "DELETE of all", f"DELETE FROM {table}"
    columns = [field.column for field in model._meta.local_fields]
    copied = ", ".join("'forged'" if name == column else f'"{name}"' for name in columns)
    listed = ", ".join(f'"{name}"' for name in columns)
    if connection.vendor == "postgresql":
        yield "TRUNCATE", f"TRUNCATE {table} CASCADE"
        yield (
            "ON CONFLICT",
            f"INSERT INTO {table} ({listed}) SELECT {copied} FROM {table} WHERE id = {pk} "
            f"ON CONFLICT (id) DO UPDATE SET {column} = 'forged'",
        )
    else:
        yield "UPDATE OR REPLACE", f"UPDATE OR REPLACE {table} SET {column} = 'forged' WHERE id = {pk}"
        for verb in ("INSERT OR REPLACE", "REPLACE"):
            yield verb, f"{verb} INTO {table} ({listed}) SELECT {copied} FROM {table} WHERE id = {pk}"


def test_no_way_of_the_orm_changes_or_removes_a_row(subtests):
    for model in MODELS:
        before = dump(model)
        assert before
        for name, _way in list(orm_ways(model)):
            way = dict(orm_ways(model))[name]
            with subtests.test(model=model.__name__, way=name):
                with pytest.raises((TypeError, DatabaseError)), transaction.atomic():
                    way()
                assert dump(model) == before


def every_sql():
    return [(model, name, sql) for model in MODELS for name, sql in sql_ways(model)]


def test_no_sql_changes_or_removes_a_row(subtests):
    for model, name, sql in every_sql():
        before = dump(model)
        with subtests.test(model=model.__name__, way=name):
            refused = pytest.raises(IntegrityError, match="append-only")
            with refused, transaction.atomic(), connection.cursor() as cursor:
                cursor.execute(sql)
            assert dump(model) == before


def test_without_the_triggers_the_same_sql_would(subtests):
    """Control."""
    for model, name, sql in every_sql():
        with subtests.test(model=model.__name__, way=name), transaction.atomic():
            with append_only_lifted(), connection.cursor() as cursor:
                before = dump(model)
                if connection.vendor == "sqlite":
                    # PostgreSQL checks foreign keys by triggers, lifted as well
                    cursor.execute("PRAGMA defer_foreign_keys = ON")
                cursor.execute(sql)
                assert dump(model) != before
            transaction.set_rollback(True)


def test_every_append_only_model_is_tried_here_or_stands_under_the_same_triggers():
    assert set(MODELS) <= set(append_only_models())
    assert missing(connection) == []


@pytest.mark.parametrize("verb", ["UPDATE", "DELETE"])
def test_a_missing_trigger_is_noticed_and_put_back(verb):
    ends = {"sqlite": {"UPDATE": "no_update", "DELETE": "no_delete"}}
    end = ends.get(connection.vendor, {"UPDATE": "no_change", "DELETE": "no_truncate"})[verb]
    table = Receipt._meta.db_table
    with transaction.atomic():
        with connection.cursor() as cursor:
            on = f' ON "{table}"' if connection.vendor == "postgresql" else ""
            cursor.execute(f'DROP TRIGGER "{table}_{end}"{on}')
        assert missing(connection) == [table]
        install(connection)
        assert missing(connection) == []


def test_a_text_may_be_emptied_and_nothing_else(acme):
    text = ReceiptText._base_manager.exclude(text="").first()
    for column, value in (("text", "other words"), ("field", "forged"), ("line_id", None)):
        with pytest.raises(IntegrityError), transaction.atomic():
            plain(ReceiptText).filter(pk=text.pk).update(**{column: value})
    with pytest.raises(IntegrityError), transaction.atomic():
        plain(ReceiptText).filter(pk=text.pk).update(text="", field="forged")
    assert plain(ReceiptText).filter(pk=text.pk).update(text="") == 1
    text.refresh_from_db()
    assert text.text == ""
