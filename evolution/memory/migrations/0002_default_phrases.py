"""The phrases that every installation starts with."""

from django.db import migrations

PHRASES = [
    ("teach", "zh", ["记住这个", "记住", "以后都这样", "学会这个", "记下来", "这是规则", "这很重要"]),
    ("teach", "en", ["remember this", "from now on"]),
    ("forbid", "zh", ["不要再", "以后别", "以后不要"]),
    ("forbid", "en", ["never", "don't ... again"]),
    ("introspect", "zh", ["你最近学到了什么", "回顾一下我们的对话", "你有什么改进建议"]),
    ("introspect", "en", ["what have you learned"]),
    ("positive", "zh", ["好的", "谢谢"]),
    ("positive", "en", ["thanks", "great"]),
    ("negative", "zh", ["不对", "重新来"]),
    ("negative", "en", ["that's wrong", "redo"]),
    ("guard", "zh", ["不用", "不必", "不要", "无需", "别"]),
    ("guard", "en", ["no need to", "don't"]),
]


def make_phrases(apps, schema_editor):
    phrase = apps.get_model("memory", "Phrase")
    for kind, language, texts in PHRASES:
        for text in texts:
            # None of them changes under NFKC or casefold, so each is its own key.
            phrase.objects.get_or_create(
                kind=kind, key=text, defaults={"language": language, "text": text}
            )


class Migration(migrations.Migration):
    dependencies = [("memory", "0001_initial")]
    operations = [migrations.RunPython(make_phrases, migrations.RunPython.noop)]
