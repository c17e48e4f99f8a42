"""One spelling for each document: what a path becomes, what is refused, what patterns match."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.rules.paths import (
    DocumentKind,
    PathFault,
    document_kind,
    is_user_path,
    normalise_path,
    normalise_pattern,
    path_key,
    path_matches,
    path_resembles,
    user_of,
)
from common.errors import ApplicationError


def reason_of(raw, function=normalise_path):
    with pytest.raises(ApplicationError) as caught:
        function(raw)
    assert caught.value.code == "PATH_INVALID"
    assert caught.value.status == 400
    assert caught.value.errors[0].code == "PATH_INVALID"
    assert str(caught.value.message)
    return caught.value.extra["reason"], caught.value.errors[0].pointer


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("persona.md", "persona.md"),
        ("Memory/Project Notes.md", "Memory/Project Notes.md"),
        ("memory/会议记录.md", "memory/会议记录.md"),
        ("memory/память.md", "memory/память.md"),
        ("memory/отчёт2024q1.md", "memory/отчёт2024q1.md"),
        ("memory/API网关与Tシャツ.md", "memory/API网关与Tシャツ.md"),
        ("memory/延迟5μs Δt.md", "memory/延迟5μs Δt.md"),
        ("memory/阿凡提·买买提.md", "memory/阿凡提·买买提.md"),
        ("memory/café.md", "memory/café.md"),
        ("memory/100% done.md", "memory/100% done.md"),
        ("memory/🚀 launch.md", "memory/🚀 launch.md"),
        (".hidden/x.md", ".hidden/x.md"),
        ("system_prompt", "system_prompt"),
        ("users/Anna@example.com/profile.md", "users/Anna@example.com/profile.md"),
        ("./persona.md", "persona.md"),
        ("//persona.md", "persona.md"),
        ("\\\\persona.md", "persona.md"),
        ("tools//x\\.\\permissions.yaml", "tools/x/permissions.yaml"),
        ("tools/../persona.md", "persona.md"),
        ("a/b/../../persona.md", "persona.md"),
        ("persona.md/", "persona.md"),
        ("persona.md. .", "persona.md"),
        (" memory / x.md ", "memory/x.md"),
        ("ｐｅｒｓｏｎａ．ｍｄ", "persona.md"),
        ("per\u200bso\u00adna\ufe0f.md", "persona.md"),
        ("cafe\u0301.md", "café.md"),
        ("memory/a\u3000b\u00a0c.md", "memory/a b c.md"),
    ],
)
def test_a_path_has_one_normal_form_with_its_case_kept(raw, expected):
    assert normalise_path(raw) == expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("", PathFault.EMPTY),
        (".", PathFault.EMPTY),
        ("//", PathFault.EMPTY),
        ("a/..", PathFault.EMPTY),
        ("\u200b", PathFault.EMPTY),
        ("/persona.md", PathFault.ABSOLUTE),
        ("\\persona.md", PathFault.ABSOLUTE),
        ("／persona.md", PathFault.ABSOLUTE),
        ("../other/persona.md", PathFault.OUTSIDE),
        ("a/../../persona.md", PathFault.OUTSIDE),
        ("．．/persona.md", PathFault.OUTSIDE),
        ("‥/persona.md", PathFault.OUTSIDE),
        ("C:/persona.md", PathFault.COLON),
        ("c:persona.md", PathFault.COLON),
        ("Ｃ：persona.md", PathFault.COLON),
        ("file:///persona.md", PathFault.COLON),
        ("persona.md::$DATA", PathFault.COLON),
        ("persona%2emd", PathFault.PERCENT),
        ("%70ersona.md", PathFault.PERCENT),
        ("persona％２Ｅmd", PathFault.PERCENT),
        ("persona%\u200b2emd", PathFault.PERCENT),
        ("persona%252emd", PathFault.PERCENT),
        ("persona%u002emd", PathFault.PERCENT),
        ("persona.md\x00", PathFault.CONTROL),
        ("persona\n.md", PathFault.CONTROL),
        ("persona\t.md", PathFault.CONTROL),
        ("persona\x7f.md", PathFault.CONTROL),
        ("persona\u2028.md", PathFault.CONTROL),
        ("persona\ud800.md", PathFault.CONTROL),
        ("persona\ue000.md", PathFault.CONTROL),
        ("persona\u0378.md", PathFault.CONTROL),
        ("persona.md\u2800", PathFault.CONTROL),
        ("a/.../persona.md", PathFault.DOTS_ONLY),
        (".. /persona.md", PathFault.DOTS_ONLY),
        ("tools∕persona.md", PathFault.SEPARATOR_TWIN),
        ("tools⁄persona.md", PathFault.SEPARATOR_TWIN),
        ("tools⧵persona.md", PathFault.SEPARATOR_TWIN),
        ("tools╱persona.md", PathFault.SEPARATOR_TWIN),
        ("½.md", PathFault.SEPARATOR_TWIN),
        ("persona。md", PathFault.DOT_TWIN),
        ("persona｡md", PathFault.DOT_TWIN),
        ("personaꓸmd", PathFault.DOT_TWIN),
        ("~/persona.md", PathFault.EXPANSION),
        ("${ROOT}/persona.md", PathFault.EXPANSION),
        ("$HOME/persona.md", PathFault.EXPANSION),
        ("PERSON~1.MD", PathFault.SHORT_NAME),
        (".git/hooks/post-commit", PathFault.REPOSITORY),
        (".GIT\u200d/config", PathFault.REPOSITORY),
        ("persоna.md", PathFault.MIXED_ALPHABETS),
        ("tοols/x.yaml", PathFault.MIXED_ALPHABETS),
        ("ꓑersona.md", PathFault.MIXED_ALPHABETS),
        ("pers۵na.md", PathFault.MIXED_ALPHABETS),
        ("регѕопа.md", PathFault.TWIN),
        ("pérsona.md", PathFault.TWIN),
        ("memory/mernory/../SKlLL.md", PathFault.TWIN),
        ("t00ls/x/credentials.yaml", PathFault.TWIN),
    ],
)
def test_an_ambiguous_path_is_refused_with_its_reason(raw, expected):
    assert reason_of(raw) == (expected, "/path")


@pytest.mark.parametrize("length", [1, 255])
@pytest.mark.parametrize("char", ["a", "字", "😀"])
def test_a_path_may_have_up_to_255_code_points(char, length):
    assert normalise_path(char * length) == char * length


@pytest.mark.parametrize("raw", ["a" * 256, "字" * 256, "ﷺ" * 15, "./" * 100_000 + "a"])
def test_a_longer_path_is_refused_after_it_was_normalised(raw):
    assert reason_of(raw) == (PathFault.TOO_LONG, "/path")


def test_the_length_counts_what_is_stored_and_not_what_was_sent():
    assert normalise_path("./" * 200 + "a\u200b" * 255) == "a" * 255


ANY_TEXT = st.text(
    alphabet=st.one_of(st.characters(), st.sampled_from("./\\ ~%:。．／\u200b\u0301ﬁßİ")), max_size=40
)


@given(raw=ANY_TEXT)
def test_a_path_is_refused_or_stays_as_it_is(raw):
    try:
        path = normalise_path(raw)
    except ApplicationError as error:
        assert error.code == "PATH_INVALID"
        return
    assert normalise_path(path) == path
    assert path == unicodedata.normalize("NFKC", path)
    assert not path.startswith("/")
    assert not {"", ".", ".."} & set(path.split("/"))
    assert 1 <= len(path) <= 255
    assert path_key(path_key(path)) == path_key(path)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Persona.MD", "persona.md"), ("STRASSE.md", "straße.md"), ("ΣΑΣ.md", "σας.md"), ("Ǆ.md", "ǆ.md")],
)
def test_paths_that_differ_in_case_only_have_one_key(one, other):
    assert path_key(normalise_path(one)) == path_key(normalise_path(other))


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("persona.md", "persona.md", True),
        ("persona.md", "PERSONA.md", True),
        ("ＰＥＲＳＯＮＡ.md", "persona.md", True),
        ("${ROOT}/persona.md", "persona.md", True),
        ("./persona.md", "persona.md", True),
        ("persona.md", "x/persona.md", False),
        ("persona.md", "persona.md.bak", False),
        ("memory/*.md", "memory/记忆.md", True),
        ("memory/*.md", "memory/.md", True),
        ("memory/*.md", "memory/x/y.md", False),
        ("memory/a*b*c.md", "memory/a-b-b-c.md", True),
        ("memory/a*a", "memory/a", False),
        ("users/*/privacy.md", "users/u1/privacy.md", True),
        ("users/*/privacy.md", "users/privacy.md", False),
        ("users/*/privacy.md", "users/a/b/privacy.md", False),
        ("tools/**/permissions.yaml", "tools/permissions.yaml", True),
        ("tools/**/permissions.yaml", "tools/a/permissions.yaml", True),
        ("tools/**/permissions.yaml", "Tools/a/b/c/Permissions.YAML", True),
        ("tools/**/permissions.yaml", "tools/a/xpermissions.yaml", False),
        ("tools/**", "tools/a/b", True),
        ("tools/", "tools/a/b", True),
        ("**/*.key", "a/b/c.key", True),
        ("**/*.key", "c.key", True),
        ("**", "anything/at/all", True),
        ("a.c", "abc", False),
        ("[ab].md", "a.md", False),
        ("[ab].md", "[ab].md", True),
    ],
)
def test_a_pattern_matches_whole_paths(pattern, path, expected):
    assert path_matches(pattern, path) is expected


@pytest.mark.parametrize(
    ("pattern", "path"),
    [("*a" * 120 + "b", "a" * 255), ("**/" * 80 + "b", "a/" * 120 + "a"), ("**/*" * 60, "a/" * 127 + "a")],
)
def test_no_pattern_takes_long(pattern, path):
    started = time.process_time()
    path_matches(pattern, path)
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize("pattern", ["", "/persona.md", "../x", "a/../b", "...", "a\x00", "x" * 256, "%2e"])
def test_a_pattern_that_could_mislead_is_refused(pattern):
    assert reason_of(pattern, normalise_pattern)[1] == "/pattern"


@pytest.mark.parametrize("path", ["users/ana/privаcy.md", "users/ana/prívacy.md", "users/ana/ꓑꓣꓲꓦꓮꓚꓬ.md"])
def test_a_path_that_can_be_mistaken_for_a_matching_one_resembles_it(path):
    assert path_resembles("users/*/privacy.md", path)
    assert not path_matches("users/*/privacy.md", path)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("persona.md", DocumentKind.PERSONA),
        ("Principles.md", DocumentKind.PRINCIPLES),
        ("agent.json", DocumentKind.AGENT_JSON),
        ("skills/contract-review/SKILL.md", DocumentKind.SKILL),
        ("skills/合同/skill.md", DocumentKind.SKILL),
        ("skills/x/notes.md", DocumentKind.OTHER),
        ("memory/项目.md", DocumentKind.MEMORY),
        ("memory/deep/x.md", DocumentKind.OTHER),
        ("workflows/release.md", DocumentKind.WORKFLOW),
        ("guidance/tools.md", DocumentKind.GUIDANCE),
        ("guidance/tasks.md", DocumentKind.GUIDANCE),
        ("guidance/delegation.md", DocumentKind.GUIDANCE),
        ("guidance/other.md", DocumentKind.OTHER),
        ("tools/git/permissions.yaml", DocumentKind.TOOL),
        ("tools", DocumentKind.OTHER),
        ("users/u1/profile.md", DocumentKind.USER_PROFILE),
        ("users/u1/privacy.md", DocumentKind.USER_PRIVACY),
        ("users/u1/agents/7/memory/x.md", DocumentKind.USER_MEMORY),
        ("users/u1/agents/7/relationship.md", DocumentKind.USER_RELATIONSHIP),
        ("users/u1/other.md", DocumentKind.OTHER),
        ("readme.md", DocumentKind.OTHER),
    ],
)
def test_the_kind_of_a_document_follows_from_its_path(path, kind):
    assert document_kind(path) is kind


@pytest.mark.parametrize(
    ("path", "user"),
    [
        ("users/Anna/profile.md", "Anna"),
        ("USERS/u.1@x/agents/7/memory/a.md", "u.1@x"),
        ("users/x", "x"),
        ("users", None),
        ("memory/users/x.md", None),
        ("persona.md", None),
    ],
)
def test_the_user_of_a_path_is_the_part_behind_users(path, user):
    assert user_of(path) == user
    assert is_user_path(path) is (user is not None)
