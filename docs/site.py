"""The pages as a site: what MkDocs calls while `make docs` builds it.

Pages and links are written for readers of the repository. Pages from outside docs/ get a name in
the site, links between pages are made again, and files that are linked are copied beside the pages.
"""

import html
import posixpath
import re
from pathlib import Path
from typing import Any

import griffe
import mermaidx
from mkdocs.structure.files import File, Files

DOCS = Path(__file__).parent
ROOT = DOCS.parent
NAMES = {
    ROOT / "README.md": "index.md",
    ROOT / "CHANGELOG.md": "changelog.md",
    ROOT / "CONTRIBUTING.md": "contributing.md",
    ROOT / "studies/README.md": "studies.md",
    **{path: f"{path.parent.name}.md" for path in sorted((ROOT / "studies").glob("*/README.md"))},
    DOCS / "README.md": "pages.md",
}
_LINK = re.compile(r"\]\(([\w./-]+)(#[\w-]+)?\)")
_EXAMPLE = re.compile(r"^>>> .*\n?(?:.+\n?)*", re.MULTILINE)
_MERMAID = re.compile(r"```mermaid\n(.*?)```", re.DOTALL)


class Examples(griffe.Extension):
    """Examples in docstrings are code, wherever they stand."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Put fences around the examples of a function or class."""
        if obj.docstring is not None:
            text = obj.docstring.value
            obj.docstring.value = _EXAMPLE.sub(lambda m: f"```pycon\n{m[0].rstrip()}\n```\n", text)


def on_files(files: Files, config: Any) -> None:
    """Add the pages from outside docs/."""
    files.remove(files.get_file_from_path("README.md"))
    for path, name in NAMES.items():
        files.append(File.generated(config, name, abs_src_path=str(path)))


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Change the links of a page to names in the site, and draw its diagrams."""
    folder = Path(page.file.abs_src_path).parent

    def link(match: re.Match[str]) -> str:
        path = (folder / match[1]).resolve()
        if not path.is_file():
            return match[0]  # a mistake, which MkDocs reports
        name = NAMES.get(path)
        if name is None and path.is_relative_to(DOCS):
            name = path.relative_to(DOCS).as_posix()
        elif name is None:
            name = f"files/{path.relative_to(ROOT).as_posix()}"
            if files.get_file_from_path(name) is None:
                files.append(File.generated(config, name, abs_src_path=str(path)))
        return f"]({posixpath.relpath(name, posixpath.dirname(page.file.src_uri))}{match[2] or ''})"

    def draw(match: re.Match[str]) -> str:
        name = posixpath.splitext(page.file.src_uri)[0] + ".svg"
        files.append(File.generated(config, name, content=mermaidx.render(match[1]).svg()))
        source = html.escape(posixpath.basename(name))
        style = "max-width: none; width: 1400px"
        image = f'<img src="{source}" alt="folders and their imports" style="{style}">'
        return f'<div style="overflow-x: auto">{image}</div>'

    return _MERMAID.sub(draw, _LINK.sub(link, markdown))
