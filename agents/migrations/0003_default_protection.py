"""The protection rules that every installation starts with."""

from django.db import migrations

RULES = [
    ("persona.md", "L0", [], "block", "核心身份 · core identity"),
    ("principles.md", "绝不做", ["must_not", "红线", "安全红线", "Never"], "block", "红线 · what the agent never does"),
    ("agent.json", "access_control", [], "owner_only", "访问控制 · access control"),
    ("agent.json", "privacy", [], "owner_only", "隐私 · privacy"),
    ("tools/**/permissions.yaml", "", [], "owner_only", "工具权限 · tool permissions"),
    ("tools/**/credentials.yaml", "", [], "block", "工具凭据 · tool credentials"),
    ("users/*/privacy.md", "", [], "owner_only", "用户隐私 · a user's privacy settings"),
    ("users/*/agents/*/relationship.md", "禁区", [], "confirm", "关系禁区 · no-go areas of a relationship"),
    ("system_prompt", "", [], "owner_only", "角色定义（仅提案） · role definition (proposals only)"),
]


def make_rules(apps, schema_editor):
    rule = apps.get_model("agents", "ProtectedPath")
    for pattern, section, aliases, level, description in RULES:
        rule.objects.get_or_create(
            pattern=pattern,
            section=section,
            company=None,
            defaults={"section_aliases": aliases, "level": level, "description": description},
        )


class Migration(migrations.Migration):
    dependencies = [("agents", "0002_initial")]
    operations = [migrations.RunPython(make_rules, migrations.RunPython.noop)]
