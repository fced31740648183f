"""The picture in docs/architecture.md agrees with the imports of `src`, and has no cycle."""

from tests.architecture import PAGE, boxes, picture, reachable, split


def test_the_picture_is_drawn_from_the_imports():
    _, drawn, _ = split(PAGE.read_text())
    assert drawn == picture(), "run `make architecture`"


def test_folders_import_one_way():
    _, arrows = boxes()
    assert [box for box in arrows if box in reachable(box, arrows)] == []
