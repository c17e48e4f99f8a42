"""Everything that staff read is Chinese where they chose Chinese."""

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.utils import flatten_fieldsets, label_for_field
from django.utils import translation

from config import borrowed_messages
from tests.house.messages import (
    HAN,
    LOCALE,
    PLACEHOLDER,
    compiled,
    compiled_anew,
    our_messages,
    python_messages,
    template_messages,
    translations,
    unfold_messages,
)

CATALOGUES = sorted(LOCALE.glob("*/LC_MESSAGES/*.po"))
#: Words that are the same in Chinese.
SAME = {"API", "SHA-256", "JSON", "YAML", "CSV", "ID", "#", "token", "sha"}
#: Their page is a template of its own; tests/house/test_admin_pages.py reads it.
OWN_PAGES = {"proposals.Proposal"}


@pytest.fixture(scope="module")
def known():
    return translations()


def test_every_message_of_the_code_has_a_chinese_translation(known):
    missing = {message: where for message, where in our_messages().items() if not known.get(message)}
    assert missing == {}, "run `make messages` and fill locale/zh_Hans"


def test_every_translation_is_chinese(known):
    odd = [text for text in known.values() if untranslated(PLACEHOLDER.sub("", text))]
    assert odd == []


def test_the_catalogue_holds_nothing_that_no_code_says(known):
    assert set(known) - set(our_messages()) == set()


def test_the_words_of_unfold_are_borrowed_completely():
    said = {message[0] for message in unfold_messages()}
    singular = [getattr(word, "_proxy____args", (word,))[0] for word in borrowed_messages.UNFOLD]
    assert len(singular) == len(set(singular))
    assert {str(word) for word in singular if isinstance(word, str)} <= said
    known = translations()
    assert {message for message in unfold_messages() if not known.get(message)} == set()


def test_translations_keep_their_placeholders(known):
    broken = {}
    for (singular, plural), text in known.items():
        wanted = sorted(PLACEHOLDER.findall(plural or singular))
        if text and sorted(PLACEHOLDER.findall(text)) != wanted:
            broken[singular] = text
    assert broken == {}


@pytest.mark.parametrize("path", CATALOGUES, ids=lambda path: path.parents[1].name)
def test_compiled_catalogues_are_up_to_date(path):
    assert compiled(path) == compiled_anew(path), "run `make messages`"


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("The role definition must not be blank.", "角色定义不能为空"),
        ("role definition", "角色定义"),
        ("best-practice experience", "最佳实践经验"),
        ("agent", "智能体"),
        ("enabled", "启用"),
        ("receipt", "回执"),
        ("company", "公司"),
        ("API key", "API 密钥"),
        ("protected path", "受保护路径"),
        ("version", "版本"),
        ("restore", "恢复"),
        ("Preview prompt", "预览提示词"),
        ("groups", "角色"),
    ],
)
def test_the_words_of_the_trade_are_used(english, chinese):
    with translation.override("zh-hans"):
        assert translation.gettext(english) == chinese
    with translation.override("en"):
        assert translation.gettext(english) in (english, "roles")


def untranslated(text):
    """Whether a text that staff read has letters and no Chinese."""
    words = str(text).strip().strip("：:")
    return (
        bool(words) and any(char.isalpha() for char in words) and not HAN.search(words) and words not in SAME
    )


def labels_of(model_admin, request):
    """(place, text) of every label, help, choice, filter and action of a page."""
    opts = model_admin.opts
    yield "verbose_name", opts.verbose_name
    yield "verbose_name_plural", opts.verbose_name_plural
    yield "app", apps.get_app_config(opts.app_label).verbose_name
    for name in model_admin.get_list_display(request):
        yield f"column {name}", label_for_field(name, model_admin.model, model_admin)
    for name, (_action, _name, description) in model_admin.get_actions(request).items():
        yield f"action {name}", description
    for kind in ("list", "detail", "row", "submit_line"):
        for action in getattr(model_admin, f"_get_base_actions_{kind}")():
            yield f"action {action.action_name}", action.description
    yield "search", model_admin.search_help_text or ""
    if opts.label in OWN_PAGES:
        return
    for obj in (None, model_admin.model._default_manager.first()):
        fieldsets = model_admin.get_fieldsets(request, obj)
        for title, options in fieldsets:
            yield "fieldset", title or ""
            yield "fieldset", options.get("description") or ""
        form = model_admin.get_form(request, obj, change=obj is not None)(
            **({"instance": obj} if obj else {})
        )
        readonly = model_admin.get_readonly_fields(request, obj)
        for name in flatten_fieldsets(fieldsets):
            if name in form.fields:
                field = form.fields[name]
                yield f"field {name}", field.label or ""
                yield f"help {name}", field.help_text
                if isinstance(getattr(field, "choices", None), list):
                    yield from ((f"choice {name}", label) for value, label in field.choices if value)
            elif name in readonly:
                yield f"field {name}", label_for_field(name, model_admin.model, model_admin)


@pytest.mark.parametrize("model", sorted(admin.site._registry, key=lambda model: model._meta.label))
def test_labels_of_a_page_are_chinese(model, furnished_house, rf, chief):
    request = rf.get("/admin/")
    request.user, request.session = chief, {}
    model_admin = admin.site._registry[model]
    with translation.override("zh-hans"):
        english = {
            (place, str(text)) for place, text in labels_of(model_admin, request) if untranslated(text)
        }
    assert english == set()


@pytest.mark.parametrize("code", ['_(f"Hello {name}")', "print(f\"{_('Hello')} {name}\")"])
def test_a_message_that_cannot_be_collected_is_refused(tmp_path, code):
    module = tmp_path / "module.py"
    module.write_text(code)
    with pytest.raises(ValueError, match="f-string"):
        list(python_messages(module))


def test_the_collection_sees_code_and_templates(tmp_path):
    module, template = tmp_path / "module.py", tmp_path / "page.html"
    module.write_text('_("one " "two"); ngettext("%(n)d row", "%(n)d rows", n); foo("no"); x._("yes")')
    template.write_text(
        '{% load i18n %}{% translate \'a "b"\' %}{% trans "it\'s" as x %}'
        "{% blocktranslate count n=n %}{{ n }} row{% plural %}{{ n }} rows{% endblocktranslate %}"
    )
    found = sorted(python_messages(module))
    assert found == [("%(n)d row", "%(n)d rows"), ("one two", ""), ("yes", "")]
    assert sorted(template_messages(template)) == [
        ("%(n)s row", "%(n)s rows"),
        ('a "b"', ""),
        ("it's", ""),
    ]
