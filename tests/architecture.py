"""Draws the folders of `src` and the imports between them into docs/architecture.md.

``python -m tests.architecture`` (or ``make architecture``) writes the picture anew, and
tests/unit/project/test_imports.py compares the two. A box is a folder. Modules beside folders are
three boxes: those that import these folders, those that folders import, and those between.
`__main__` only calls `cli`: left out.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/architecture.md"
BEGIN, END = "<!-- drawn by `make architecture` -->\n", "<!-- end of the drawing -->"
ONE_BOX = ("epsilometer_audit.serving", "epsilometer_workflow.reports")  # with all folders in it


def modules() -> dict[str, Path]:
    """Return the file of every module but `__main__`."""
    files = {}
    for file in sorted((ROOT / "src").rglob("*.py")):
        parts = file.relative_to(ROOT / "src").with_suffix("").parts
        if parts[-1] == "__main__":
            continue
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return files


def imports(file: Path, files: dict[str, Path]) -> Iterator[str]:
    """Yield the modules that a file imports, but for those that only its types need."""
    nodes: list[ast.AST] = [ast.parse(file.read_text())]
    for node in nodes:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        nodes += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name in files)
        elif isinstance(node, ast.ImportFrom):
            package = list(file.relative_to(ROOT / "src").parent.parts) if node.level else []
            package = package[: len(package) + 1 - node.level] if node.level else []
            base = ".".join(filter(None, [*package, node.module]))
            for name in node.names:
                yield from [m for m in (f"{base}.{name.name}", base) if m in files][:1]


def boxes() -> tuple[dict[str, list[str]], dict[str, set[str]]]:
    """Return the modules of every box, and the boxes that it imports."""
    files = modules()
    edges = {module: set(imports(file, files)) - {module} for module, file in files.items()}
    packages = {module for module, file in files.items() if file.name == "__init__.py"}
    box_of = {module: box(module, edges, packages) for module in files}
    members = defaultdict(list)
    for module in files.keys() - packages:
        members[box_of[module]].append(module.rpartition(".")[2])
    arrows: dict[str, set[str]] = {name: set() for name in members}
    for module, targets in edges.items():
        if box_of[module] in arrows:
            arrows[box_of[module]] |= {box_of[m] for m in targets if box_of[m] in arrows}
    return dict(members), {name: targets - {name} for name, targets in arrows.items()}


def box(module: str, edges: dict[str, set[str]], packages: set[str]) -> str:
    """Return the box of a module: its folder, or one of three where it lies beside folders."""
    for package in ONE_BOX:
        if f"{module}.".startswith(f"{package}."):
            return package
    package = module if module in packages else module.rpartition(".")[0]
    folders = tuple(f"{p}." for p in packages if p.startswith(f"{package}."))
    if module == package or not folders:
        return package
    inside = {m: t if m.startswith(f"{package}.") else set() for m, t in edges.items()}
    reached = {module, *reachable(module, inside)}
    if not any(f"{m}.".startswith(folders) for m in reached):
        return f"{package} below"
    users = {m for m in inside if module in inside[m] or module in reachable(m, inside)}
    if any(f"{m}.".startswith(folders) for m in users):
        return f"{package} between"
    return f"{package} above"


def reachable(
    start: str, arrows: dict[str, set[str]], without: tuple[str, str] | None = None
) -> set[str]:
    """Return the boxes that a box imports, directly or through others, without one arrow."""
    behind, todo = set(), [start]
    for box in todo:
        new = {b for b in arrows[box] if (box, b) != without} - behind
        behind |= new
        todo += new
    return behind


def picture() -> str:
    """Return the picture, and below it a line for each folder, from its docstring."""
    members, arrows = boxes()
    lines = ["```mermaid", "flowchart TD"]
    folders: list[str] = []
    for name in sorted(members, key=identifier):
        package, _, part = name.partition(" ")
        around = package.split(".")[: None if part else -1]
        while folders != around[: len(folders)]:
            folders.pop()
            lines.append("  " * (len(folders) + 1) + "end")
        while len(folders) < len(around):
            folders.append(around[len(folders)])
            lines.append("  " * len(folders) + f"subgraph {'.'.join(folders)}[{folders[-1]}/]")
        names = sorted(members[name])
        three = [", ".join(names[i : i + 3]) for i in range(0, len(names), 3)]
        text = "<br>".join(three) if part else f"{package.split('.')[-1]}/"
        lines.append("  " * (len(folders) + 1) + f'{identifier(name)}["{text}"]')
    lines += ["  " * depth + "end" for depth in range(len(folders), 0, -1)]
    for name, targets in sorted(arrows.items()):
        kept = [t for t in sorted(targets) if t not in reachable(name, arrows, (name, t))]
        if kept:
            lines.append(f"  {identifier(name)} --> {' & '.join(map(identifier, kept))}")
    lines += ["```", "", "| folder | |", "|---|---|"]
    for file in modules().values():
        if file.name == "__init__.py":
            line, *_ = (ast.get_docstring(ast.parse(file.read_text())) or "").split("\n")
            lines.append(f"| `{file.parent.relative_to(ROOT)}/` | {line} |")
    return "\n".join(lines) + "\n"


def identifier(box: str) -> str:
    """Return how the drawing refers to a box."""
    return box.replace(" ", ".")


def split(page: str) -> tuple[str, str, str]:
    """Return the text before the picture, the picture, and the text below it."""
    before, _, rest = page.partition(BEGIN)
    drawn, _, after = rest.partition(END)
    return before, drawn, after


if __name__ == "__main__":
    before, _, after = split(PAGE.read_text())
    PAGE.write_text(before + BEGIN + picture() + END + after)
