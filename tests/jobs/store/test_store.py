from __future__ import annotations

import hashlib
import io
import os
import subprocess
import sys
import tarfile
import threading
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa

from stethoscope.errors import NotFound, QuotaExceeded, UnsafeFile
from stethoscope.jobs.store.schema import clean_name, entries, is_id, new_id, writing
from tests.jobs.store.conftest import files_in
from tests.tables import each


def test_what_was_put_in_comes_out(make_store, put):
    entry = put(make_store(), b"weights", "my model.keras")
    found = make_store().get(entry.id)
    assert found == entry
    assert found.path.read_bytes() == b"weights"
    assert found.sha256 == hashlib.sha256(b"weights").hexdigest()
    assert (found.file.name, found.file.sha256) == ("my model.keras", found.sha256)


def test_code_beside_a_model_counts_is_its_owners_and_goes_with_it(make_store, put, tmp_path):
    store = make_store(quota_bytes=1000)
    entry, other = put(store, b"weights", "a.keras", "ada"), put(store, b"others", "b.keras", "bob")
    with pytest.raises(NotFound):
        store.set_code(entry.id, "bob", "layers.py", b"class A: pass")
    with pytest.raises(QuotaExceeded):
        store.set_code(entry.id, "ada", "layers.py", b"#" * 1000)
    given = store.set_code(entry.id, "ada", "../la\u202eyers.py", b"class A: pass")
    assert given.file.code is not None and given.file.code.path.read_bytes() == b"class A: pass"
    assert given.code.name == "layers.py" and store.usage("ada").used_bytes == 7 + 13
    store.set_code(other.id, "bob", "same.py", b"class A: pass")
    store.clean()
    assert store.get(entry.id) == given, "in use"
    changed = store.set_code(entry.id, "ada", "layers.py", b"class B: pass")
    assert changed.code.path.read_bytes() == b"class B: pass" and given.code.path.exists(), "the other has it still"
    assert store.set_code(other.id, "bob", "", None).code is None and not given.code.path.exists()
    store.remove(entry.id, "ada")
    assert files_in(tmp_path) == [other.path]


def test_equal_files_are_kept_once_and_go_with_their_last_entry(make_store, put, tmp_path):
    store = make_store()
    first, second = put(store, b"same", "a.h5", "ada"), put(store, b"same", "b.h5", "bob")
    assert first.id != second.id
    assert files_in(tmp_path) == [first.path]
    store.remove(first.id, "ada")
    assert store.get(second.id).path.exists()
    store.remove(second.id, "bob")
    assert files_in(tmp_path) == []


def test_only_the_owner_sees_it_in_a_list_removes_it_or_trusts_it(make_store, put):
    store = make_store()
    entry = put(store, b"x")
    assert [one.id for one in store.list("ada")] == [entry.id]
    assert store.list("bob") == ()
    for change in (store.remove, store.set_trusted):
        with pytest.raises(NotFound):
            change(entry.id, "bob")
    assert store.set_trusted(entry.id, "ada").trusted
    assert not store.set_trusted(entry.id, "ada", False).trusted
    assert store.get(entry.id).id == entry.id


@pytest.mark.parametrize("wrong", ["", "../../etc/passwd", "a' OR '1'='1", "x" * 500, "nobody-has-this-id"])
def test_a_wrong_id_is_not_found(make_store, wrong):
    with pytest.raises(NotFound, match="Upload it again"):
        make_store().get(wrong)


def test_an_entry_whose_file_is_gone_is_not_found(make_store, put):
    store = make_store()
    entry = put(store, b"x")
    entry.path.unlink()
    with pytest.raises(NotFound):
        store.get(entry.id)


def test_the_owners_share_counts_equal_files_once(make_store, put):
    store = make_store(quota_bytes=100)
    put(store, b"a" * 60)
    put(store, b"b" * 30, owner="bob")
    with pytest.raises(QuotaExceeded, match="40 bytes left"):
        put(store, b"c" * 60)
    with store.upload("ada") as upload:
        upload.write(b"a" * 30)
        upload.commit("again")
    assert store.usage("ada").used_bytes == 90
    assert store.usage("bob").used_bytes == 30


def test_all_owners_together_have_a_limit(make_store, put):
    store = make_store(total_quota_bytes=100)
    put(store, b"a" * 60)
    with pytest.raises(QuotaExceeded):
        put(store, b"b" * 60, owner="bob")


def test_uploads_under_way_count_against_the_share(make_store):
    store = make_store(quota_bytes=100)
    with store.upload("ada") as first:
        first.write(b"a" * 80)
        with pytest.raises(QuotaExceeded):
            store.check_room("ada", 40)
    store.check_room("ada", 40)


def test_two_uploads_that_started_together_cannot_exceed_the_share(make_store):
    store = make_store(quota_bytes=100)
    with store.upload("ada") as first, store.upload("ada") as second:
        first.write(b"a" * 80)
        second.write(b"b" * 80)
        first.commit("first")
        with pytest.raises(QuotaExceeded):
            second.commit("second")
    assert store.usage("ada").used_bytes == 80


def test_models_nobody_opens_expire_and_touched_ones_stay(make_store, put, tmp_path):
    store = make_store(expire_days=10)
    old, used = put(store, b"old"), put(store, b"used")
    long_ago = datetime.now(UTC).replace(tzinfo=None) - timedelta(days=11)
    with writing(store._engine) as connection:
        connection.execute(sa.update(entries).values(last_used=long_ago))
    store.touch(used.id)
    store.clean()
    with pytest.raises(NotFound):
        store.get(old.id)
    assert files_in(tmp_path) == [store.get(used.id).path]


def test_cleaning_removes_files_that_no_entry_names(make_store, put, tmp_path):
    store = make_store()
    entry = put(store, b"x")
    stray = store.path_of("ff" * 32)
    stray.parent.mkdir(parents=True)
    stray.write_bytes(b"left by a crash")
    store.clean()
    assert files_in(tmp_path) == [entry.path]


def test_a_folder_becomes_one_tar_that_is_always_the_same(make_store, tmp_path):
    folder = tmp_path / "net"
    (folder / "variables").mkdir(parents=True)
    (folder / "saved_model.pb").write_bytes(b"graph")
    (folder / "variables" / ("long" * 40)).write_bytes(b"w" * 700)
    store = make_store()
    first = store.add_file(folder, "net", "ada")
    os.utime(folder / "saved_model.pb", (1, 1))
    assert store.add_file(folder, "net", "ada").sha256 == first.sha256
    assert first.name == "net.tar"
    with tarfile.open(fileobj=io.BytesIO(first.path.read_bytes())) as tar:
        assert tar.getnames() == ["net/saved_model.pb", "net/variables/" + "long" * 40]
        assert tar.extractfile("net/saved_model.pb").read() == b"graph"


def test_a_folder_with_a_link_is_refused(make_store, tmp_path):
    folder = tmp_path / "net"
    folder.mkdir()
    (folder / "saved_model.pb").symlink_to("/etc/passwd")
    with pytest.raises(UnsafeFile):
        make_store().add_file(folder, "net", "ada")
    assert files_in(tmp_path / "store") == []


def test_many_threads_and_a_second_process_can_write_at_once(make_store, put, tmp_path):
    store = make_store()
    code = (
        "import sys; from pathlib import Path; from stethoscope.settings import Settings; from stethoscope.jobs.store import Store\n"
        "store = Store(Path(sys.argv[1]) / 'store', Settings(workspace=sys.argv[1], min_free_disk_bytes=0))\n"
        "for i in range(20):\n"
        "    with store.upload('bob') as upload:\n"
        "        upload.write(bytes([i % 5]))\n"
        "        entry = upload.commit('m')\n"
        "    if i % 2: store.remove(entry.id, 'bob')\n"
    )
    other = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stderr=subprocess.PIPE)
    failures: list[BaseException] = []

    def work() -> None:
        try:
            for number in range(20):
                entry = put(store, bytes([number % 5]))
                if number % 2:
                    store.remove(entry.id, "ada")
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert other.wait(60) == 0, other.stderr.read().decode()
    other.stderr.close()
    assert failures == []
    assert len(store.list("ada")) == 40
    assert len(store.list("bob")) == 10
    assert all(entry.path.is_file() for owner in ("ada", "bob") for entry in store.list(owner))
    store.clean()
    assert len(files_in(tmp_path)) == len({entry.sha256 for owner in ("ada", "bob") for entry in store.list(owner)})


@each(
    ("name", "kept"),
    [
        ("model.keras", "model.keras"),
        ("../../etc/passwd", "passwd"),
        ("C:\\models\\net.h5", "net.h5"),
        ("", "model"),
        ("..", "model"),
        ("a\nb\x00c\u202e.keras", "abc.keras"),
        ("x" * 500 + ".tflite", "x" * 193 + ".tflite"),
        ("模型.onnx", "模型.onnx"),
    ],
)
def test_names_keep_what_can_be_seen(name, kept):
    assert clean_name(name) == kept


def test_ids_cannot_be_guessed_or_abused():
    made = {new_id() for _ in range(100)}
    assert len(made) == 100
    assert all(is_id(one) and len(one) == 22 for one in made)
    assert not is_id("a/b")
