"""The map of links has no dead name and no island, and its links lead both ways."""

import pytest

pytest.importorskip("myst_nb")
from website import link_map, see_also
from website.link_map import KINDS, Node, declared, front_matter, linked_in, node, related, strengths, titles

from grpo_ref.course.contents import OURS

PAGES = [entry for entry in titles() if entry.kind != "kernel"]
"""The entries that are a page, or a section of a page."""
OTHERS = {
    "derivation": {"exercise", "recipe", "claim", "notebook", "symptom"},
    "chapter": {"derivation", "exercise", "recipe", "claim", "notebook"},
    "exercise": {"derivation", "chapter", "recipe", "claim", "notebook", "symptom"},
    "recipe": {"derivation", "exercise", "claim", "notebook", "symptom"},
    "claim": {"derivation", "exercise", "recipe", "notebook", "symptom"},
    "notebook": {"derivation", "exercise", "recipe", "claim", "symptom"},
    "symptom": {"derivation", "exercise", "recipe", "claim", "notebook"},
}
"""Kind -> kinds to which its pages link."""
LEAST = 0.2
"""Least share of the pages of a kind that link to each of these kinds."""


def names(text):
    """Entries as KIND/NAME, from a text with spaces between them."""
    return {node(each) for each in text.split()}


def test_every_declared_name_is_an_entry():
    named = [
        *(f"{kind}/{name}" for kind in KINDS for name in declared().get(kind, {})),
        *(each for kind in declared().values() for others in kind.values() for each in others),
    ]
    assert [node(name) for name in named]
    assert set(declared()) <= {*KINDS, "parts"}


def test_an_unknown_name_is_an_error():
    with pytest.raises(ValueError, match="recipe/dappo"):
        node("recipe/dappo")


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: "/".join(entry))
def test_no_page_is_an_island(entry):
    assert sum(len(nodes) for kind, nodes in related(entry).items() if kind != "kernel") >= 2


@pytest.mark.parametrize("entry", PAGES, ids=lambda entry: "/".join(entry))
def test_links_lead_both_ways(entry):
    for others in related(entry, in_full=True).values():
        for other in others:
            assert entry in related(other, in_full=True)[entry.kind]


@pytest.mark.parametrize("kind", OTHERS)
def test_no_kind_loses_its_links_to_another(kind):
    """A source of links that breaks shows as a share that falls."""
    entries = [entry for entry in PAGES if entry.kind == kind]
    shares = {
        other: sum(other in related(entry) for entry in entries) / len(entries) for other in OTHERS[kind]
    }
    assert {other: share for other, share in shares.items() if share < LEAST} == {}


def test_every_source_of_links_is_read():
    """Each of these links comes from one source only."""
    only = {
        "a declared link": ("claim/group_size", "recipe/two_grpo"),
        "the table of contents": ("chapter/05_aggregation", "notebook/05_three_pictures_of_W"),
        "front matter": ("exercise/ratios/clipped", "claim/clip_higher"),
        "a text": ("notebook/13_from_ppo_to_grpo", "claim/group_size"),
        "a shared exercise": ("chapter/03_ratios", "claim/clip_higher"),
        "a changed part": ("recipe/tis", "derivation/11_off_policy"),
        "a shared kernel": ("recipe/sapo", "claim/soft_clipping"),
    }
    lost = [name for name, pair in only.items() if frozenset(map(node, pair)) not in strengths()]
    assert lost == []


def test_the_most_specific_links_come_first():
    """Declared links before those through a kernel that many use."""
    found = related(Node("exercise", "ratios/clipped"))
    assert {each.name for each in found["recipe"][:2]} == {"grpo", "dapo"}
    assert found["claim"][0].name == "clip_higher"
    assert len(related(Node("kernel", "clipped"), in_full=True)["claim"]) > 10


def test_a_page_lists_few_entries_of_a_kind():
    for entry in titles():
        found = related(entry)
        assert all(len(nodes) <= 5 for nodes in found.values())


@pytest.mark.parametrize("exercise", OURS.ids)
def test_the_front_matter_of_an_exercise_is_in_the_map(exercise):
    found = related(Node("exercise", exercise), in_full=True)
    assert all(each in found[each.kind] for each in front_matter(exercise))


LINKS = """
[a](../derivation/04_clip.md) [b](../../exercises/03_ratios/03_clipped.py) [c](symptoms.md#the-loss-is-0)
[d](../experiments/collapse/README.md#with-a-network) [e](../../notebooks/09_the_clinic.ipynb)
[f](../glossary.md)
[g](../../exercises/04_kl/README.md) [h](#the-loss-is-nan) [i](https://example.org/) `kl/k3`
"""


def test_the_links_of_a_text_are_read():
    assert set(linked_in(LINKS, "docs/howto/symptoms.md")) == names(
        "derivation/04_clip exercise/ratios/clipped symptom/the-loss-is-0 claim/collapse"
        " notebook/09_the_clinic chapter/04_kl symptom/the-loss-is-nan exercise/kl/k3"
    )


def test_the_section_names_titles_and_no_slug():
    text = see_also.with_neighbours("# SAPO\n", "recipe/sapo")
    assert text.startswith("# SAPO\n\n## See also\n\n* **Derivation:** ")
    title = "Are the smooth weights of SAPO and VESPO better than hard clipping?"
    assert f"[{title}](source:../experiments/soft_clipping.html)" in text
    assert "[SAPO's soft gate](" in text
    assert "[sapo]" not in text


def test_the_last_section_of_a_page_is_not_repeated():
    """Step 4 lists three exercises itself, and its section "See also" lists others."""
    last = link_map.texts()[Node("derivation", "04_clip")][0].rpartition("\n## ")[2]
    assert "ratios/clipped" in last
    assert "#ratios/clipped)" not in see_also.see_also("derivation/04_clip")
    assert "#ratios/scenarios)" in see_also.see_also("derivation/04_clip")


def test_each_symptom_has_its_line():
    page = (link_map.ROOT / "docs/howto/symptoms.md").read_text(encoding="utf-8")
    text = see_also.with_neighbours(page, "howto/symptoms")
    assert text.count("**See also.**") == page.count("\n## ")
    first = text.partition("\n## The loss is negative\n")[0]
    assert "[5. The group](source:../derivation/05_group.html)" in first.rpartition("**See also.**")[2]


def test_other_pages_stay_as_they_are():
    assert see_also.with_neighbours("# Glossary\n", "glossary") == "# Glossary\n"


def test_the_course_links_to_chapters_and_pages():
    site = see_also.of_site()
    assert site.root == "../"
    assert site.chapters["ratios"] == "../chapters/03_ratios.html"
    assert set(site.exercises) == set(OURS.ids)
    derivation = next(group for group in site.exercises["ratios/clipped"] if group.title == "Derivation")
    assert derivation.links[0] == ("4. The clip", "../derivation/04_clip.html")
