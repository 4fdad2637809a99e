"""The store: what was found is there after a stop, even one in the middle of a line."""

from grpo_ref.course.attack.store import Store, fingerprint


def test_results_outlive_the_program(tmp_path):
    Store(tmp_path / "a" / "b.jsonl").put("key", [1, None])
    assert Store(tmp_path / "a" / "b.jsonl").get("key") == [1, None]
    assert Store(tmp_path / "a" / "b.jsonl").get("other") is None


def test_a_line_that_was_cut_off_is_forgotten_and_the_next_one_is_not(tmp_path):
    path = tmp_path / "b.jsonl"
    Store(path).put("first", 1)
    with path.open("a") as file:
        file.write('["second", ')
    Store(path).put("third", 3)
    assert Store(path).results == {"first": 1, "third": 3}


def test_a_fingerprint_keeps_texts_apart():
    assert fingerprint("a", "b") == fingerprint("a", "b")
    assert len({fingerprint("a", "b"), fingerprint("ab", ""), fingerprint("b", "a")}) == 3
