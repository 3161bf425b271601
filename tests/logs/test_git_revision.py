"""A file as git had it: read from objects, by nothing that a repository could make run."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from stethoscope.errors import BadSetting, UnreadableFile
from stethoscope.logs.git_revision import extracted

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@pytest.fixture
def repository(tmp_path):
    place = tmp_path / "repo"
    place.mkdir()

    def git(*arguments):
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments], cwd=place, check=True, capture_output=True
        )

    git("init", "-q")
    for content in ("old", "new"):
        (place / "data.csv").write_text(content)
        (place / "parts").mkdir(exist_ok=True)
        (place / "parts" / "one.csv").write_text(content)
        git("add", ".")
        git("commit", "-qm", content)
    return place


def test_files_and_folders(repository, tmp_path):
    found = extracted(repository / "data.csv", "HEAD~1", tmp_path / "a")
    assert (found.path.read_text(), found.name, len(found.commit)) == ("old", "HEAD~1:data.csv", 40)
    assert (extracted(repository / "parts", "HEAD~1", tmp_path / "b").path / "one.csv").read_text() == "old"
    whole = extracted(repository, "HEAD", tmp_path / "c").path
    assert sorted(path.name for path in whole.rglob("*.csv")) == ["data.csv", "one.csv"]
    assert (whole / "data.csv").read_text() == "new"


def test_nothing_of_the_repository_runs(repository, tmp_path):
    ran = tmp_path / "ran"
    (repository / ".gitattributes").write_text("*.csv filter=bad diff=bad export-subst\n")
    command = f"touch {ran}; cat"
    for name in ("filter.bad.smudge", "filter.bad.clean", "diff.bad.textconv", "core.fsmonitor", "core.pager"):
        subprocess.run(["git", "config", name, command], cwd=repository, check=True)
    assert extracted(repository / "data.csv", "HEAD~1", tmp_path / "a").path.read_text() == "old" and not ran.exists()


@pytest.mark.parametrize("revision", ["HEAD~9", "--output=x", "HEAD:data.csv", "", "-h"])
def test_what_is_no_revision(repository, tmp_path, revision):
    with pytest.raises(BadSetting):
        extracted(repository / "data.csv", revision, tmp_path / "a")
    assert sorted(path.name for path in repository.iterdir()) == [".git", "data.csv", "parts"]


def test_what_git_does_not_have(repository, tmp_path, monkeypatch):
    (repository / "later.csv").write_text("x")
    with pytest.raises(UnreadableFile):
        extracted(repository / "later.csv", "HEAD", tmp_path / "a")
    (tmp_path / "outside.csv").write_text("x")
    with pytest.raises(BadSetting):
        extracted(tmp_path / "outside.csv", "HEAD", tmp_path / "a")
    (repository / "data.csv").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "lfs"], cwd=repository, check=True
    )
    with pytest.raises(UnreadableFile, match="LFS"):
        extracted(repository / "data.csv", "HEAD", tmp_path / "b")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(BadSetting, match="git"):
        extracted(repository / "data.csv", "HEAD", tmp_path / "c")
