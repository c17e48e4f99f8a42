"""A file is read as UTF-8 text or refused with a reason and a line."""

import os

import pytest

from common.errors import ApplicationError
from common.file_reading import display_path, list_files, read_text_file


def refused(path, **options):
    with pytest.raises(ApplicationError) as caught:
        read_text_file(path, **options)
    assert caught.value.code == "VALIDATION_ERROR"
    return caught.value


def test_text_comes_without_bom_and_with_its_own_line_ends(tmp_path):
    file = tmp_path / "a.md"
    file.write_bytes("\ufeff第一\r\nsecond\n".encode())
    assert read_text_file(file) == "第一\r\nsecond\n"


@pytest.mark.parametrize(
    ("data", "line", "word"),
    [
        (b"\xff\xfea\x00", 1, "UTF-16"),
        ("text".encode("utf-16-be"), 1, "NUL"),
        ("文".encode("utf-32"), 1, "UTF-32"),
        (b"one\ntwo\x00three\n", 2, "NUL"),
        (b"one\ntwo\n" + "中文".encode("gbk"), 3, "0xD6"),
        ("第一行\n第二行\n".encode() + "中文".encode("gbk"), 3, "mixed"),
        (b"\x00\n" + "中文".encode("gbk"), 1, "NUL"),
        (b"cut \xe4\xb8", 1, "0xE4"),
        (b"\xed\xa0\x80 surrogate", 1, "0xED"),
    ],
)
def test_what_is_not_utf8_text_is_refused_with_the_line(tmp_path, data, line, word):
    file = tmp_path / "a.md"
    file.write_bytes(data)
    error = refused(file)
    assert error.extra["line"] == line
    assert word in str(error.message)


def test_a_large_file_says_limit_actual_and_excess(tmp_path):
    file = tmp_path / "a.md"
    file.write_bytes(b"x" * 150)
    assert all(number in str(refused(file, max_bytes=100).message) for number in ("100", "150", "50"))
    assert len(read_text_file(file, max_bytes=150)) == 150


def test_links_folders_pipes_and_missing_files_are_refused(tmp_path):
    (tmp_path / "real.md").write_text("x")
    (tmp_path / "link.md").symlink_to(tmp_path / "real.md")
    (tmp_path / "broken.md").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.md")
    assert "symbolic links are not followed" in str(refused(tmp_path / "link.md").message)
    assert "symbolic links are not followed" in str(refused(tmp_path / "broken.md").message)
    assert "regular file" in str(refused(tmp_path / "pipe.md").message)
    assert "No such file" in str(refused(tmp_path / "missing.md").message)
    refused(tmp_path)


def test_without_the_guard_a_link_would_be_followed(tmp_path, monkeypatch):
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "link.md").symlink_to(tmp_path / "secret")
    monkeypatch.delattr(os, "O_NOFOLLOW")
    assert read_text_file(tmp_path / "link.md") == "secret"


def test_files_are_listed_in_a_stable_order_links_included(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("x")
    root = tmp_path / "root"
    for name in ("b/2.md", "b/1.MD", "a.md", "思考 助手.md", "note.txt", ".git/x.md", ".agent/y.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    (root / "link.md").symlink_to(outside / "secret.md")
    (root / "folder").symlink_to(outside)
    names = [path.relative_to(root).as_posix() for path in list_files(root, {".md"})]
    assert names == [".agent/y.md", "a.md", "b/1.MD", "b/2.md", "folder", "link.md", "思考 助手.md"]


def test_too_many_files_are_refused_before_the_first(tmp_path):
    for number in range(4):
        (tmp_path / f"{number}.md").write_text("x")
    assert len(list(list_files(tmp_path, {".md"}, max_files=4))) == 4
    with pytest.raises(ApplicationError, match="more than 3 files"):
        list_files(tmp_path, {".md"}, max_files=3)


def test_a_path_is_safe_to_print(tmp_path):
    assert display_path(tmp_path / "运维 1.md").endswith("运维 1.md")
    odd = os.fsdecode(b"\xff\x1b[31m.md")
    assert display_path(tmp_path / odd).endswith("\ufffd\ufffd[31m.md")
