"""A file is there as a whole or not at all."""

import stat

import pytest

from common.file_writing import ORDINARY, whole_file, write_text


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_text_arrives_byte_for_byte_and_nothing_else_stays(tmp_path):
    write_text(tmp_path / "备份.txt", "一\r\ntwo\n")
    assert (tmp_path / "备份.txt").read_bytes() == "一\r\ntwo\n".encode()
    assert names(tmp_path) == ["备份.txt"]


@pytest.mark.parametrize(("mode", "others"), [({}, False), ({"mode": ORDINARY}, True)])
def test_only_an_ordinary_file_may_be_read_by_others(tmp_path, mode, others):
    write_text(tmp_path / "x", "x", **mode)
    permissions = stat.S_IMODE((tmp_path / "x").stat().st_mode)
    assert bool(permissions & 0o077) is others


def test_a_file_that_exists_is_refused_before_any_work(tmp_path):
    (tmp_path / "x").write_text("old")
    with pytest.raises(FileExistsError), whole_file(tmp_path / "x"):
        pytest.fail("the block must not run")
    assert (tmp_path / "x").read_text() == "old"


def test_a_file_that_appears_meanwhile_is_kept(tmp_path):
    with pytest.raises(FileExistsError), whole_file(tmp_path / "x") as part:
        part.write_text("new")
        (tmp_path / "x").write_text("came first")
    assert (tmp_path / "x").read_text() == "came first"
    assert names(tmp_path) == ["x"]


def test_a_dangling_link_counts_as_a_file(tmp_path):
    (tmp_path / "x").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileExistsError):
        write_text(tmp_path / "x", "x")
    assert names(tmp_path) == ["x"]


def test_overwriting_replaces_the_whole_file(tmp_path):
    write_text(tmp_path / "x", "long old text")
    write_text(tmp_path / "x", "new", overwrite=True)
    assert (tmp_path / "x").read_text() == "new"


@pytest.mark.parametrize("overwrite", [True, False])
def test_a_failure_in_the_middle_leaves_what_was_there(tmp_path, overwrite):
    if overwrite:
        (tmp_path / "x").write_text("old")
    before = names(tmp_path)
    with pytest.raises(ZeroDivisionError), whole_file(tmp_path / "x", overwrite=overwrite) as part:
        part.write_text("half")
        1 / 0  # noqa: B018
    assert names(tmp_path) == before
    assert not overwrite or (tmp_path / "x").read_text() == "old"
