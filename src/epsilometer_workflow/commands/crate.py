"""The results of a scale and their provenance in one zip file, as a Workflow Run RO-Crate.

``make provenance`` writes ``results/<scale>/crate.zip``: the code, the configuration, the locks,
all tables, figures and pages, and ``ro-crate-metadata.json``, which describes in JSON-LD each file
and each job of the reports: its script, its files, its start and its end, as Snakemake recorded
them. Samples and other files on the way are only named. The profile is Provenance Run Crate 0.5
(https://w3id.org/ro/wfrun/provenance); the fixed part is ``workflow/report/crate.json``.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from epsilometer import __version__
from epsilometer_workflow.configuration.study import Study
from epsilometer_workflow.files.storage import atomic
from epsilometer_workflow.products.products import Product
from epsilometer_workflow.products.reports import all_products
from epsilometer_workflow.runtime.provenance import record_of

_FIXED = Path(__file__).parents[3] / "workflow/report/crate.json"
_CODE = (
    *("[A-Z]*", "pyproject.toml", "src/**/*.py", "src/**/*.j2", "src/**/*.txt"),
    *(f"{folder}/**/*" for folder in ("config", "envs", "profiles", "workflow")),
)
_RESULTS = ("tables/*/*.csv", "figures/*/*", "*.html")
_TYPES = {"csv": "text/csv", "html": "text/html", "md": "text/markdown"}
_TYPES |= {"png": "image/png", "pdf": "application/pdf"}
_LANGUAGE = "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"
_TIMES = {"startTime": "starttime", "endTime": "endtime"}
Entity = dict[str, Any]


def write(study: Study) -> Path:
    """Write the crate of the finished reports of a study."""
    results = Path("results", study.scale)
    everything = [file for kind in _CODE for file in Path().glob(kind)]
    everything += [file for kind in _RESULTS for file in results.glob(kind)]
    files = sorted(f for f in everything if f.is_file() and "__pycache__" not in f.parts)
    described = json.dumps(describe(study, list(all_products(study)), files), indent=1)
    path = results / "crate.zip"
    with atomic(path) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as crate:
        crate.writestr("ro-crate-metadata.json", described)
        for file in files:
            crate.write(file)
    return path


def describe(study: Study, products: list[Product], files: list[Path]) -> Entity:
    """Return the metadata of files, and of the jobs that made products."""
    metadata = json.loads(_FIXED.read_text(encoding="utf-8"))
    graph: dict[str, Entity] = {entity["@id"]: entity for entity in metadata["@graph"]}
    names = [file.as_posix() for file in files]
    jobs: dict[str, list[Entity]] = {}
    for product in products:
        jobs.setdefault(product.rule, []).append(_job(product, set(names)))
    scripts = {rule: run[0]["instrument"]["@id"] for rule, run in jobs.items()}
    for file in files:
        graph[file.as_posix()] = _file(file) | graph.get(file.as_posix(), {})
    for i, (rule, run) in enumerate(jobs.items()):
        tool, step, control = graph[scripts[rule]], f"#step/{rule}", f"#control/{rule}"
        tool["@type"] = ["File", "SoftwareSourceCode"]
        graph[step] = {"@id": step, "@type": "HowToStep", "name": rule, "position": str(i)}
        graph[step]["workExample"] = {"@id": tool["@id"]}
        graph[control] = {"@id": control, "@type": "ControlAction", "name": f"Jobs of {rule}"}
        graph[control] |= {"instrument": {"@id": step}, "object": _refs(j["@id"] for j in run)}
        for job in run:
            graph[job["@id"]] = job
            for part in (*job["object"], *job["result"]):
                other = {"@id": part["@id"], "@type": "CreativeWork", "name": part["@id"][1:]}
                graph.setdefault(part["@id"], other)
    title = f"Results of epsilometer {__version__} at the scale {study.scale}"
    now = datetime.now(UTC).isoformat(timespec="seconds")
    graph["./"] |= {"name": title, "datePublished": now, "hasPart": _refs(names)}
    graph["./"]["mentions"] += _refs(job["@id"] for run in jobs.values() for job in run)
    graph["Snakefile"] |= {
        "version": __version__,
        "hasPart": _refs(scripts.values()),
        "step": _refs(f"#step/{rule}" for rule in jobs),
    }
    graph[_LANGUAGE]["version"] = version("snakemake")
    graph["#seed"]["value"] = str(study.main.seed)
    graph["#engine"]["object"] = _refs(f"#control/{rule}" for rule in jobs)
    times = [job[key] for run in jobs.values() for job in run for key in _TIMES if key in job]
    graph["#run"] |= {
        "object": _refs([*(name for name in names if name.startswith("config/")), "#seed"]),
        "result": _refs(name for name in names if name.startswith("results/")),
        **(dict(zip(_TIMES, (min(times), max(times)), strict=True)) if times else {}),
    }
    return {"@context": metadata["@context"], "@graph": list(graph.values())}


def _job(product: Product, kept: set[str]) -> Entity:
    """Return a job, with what Snakemake recorded of it."""
    needed = [need.file for group in product.needs().values() for need in group]
    record = record_of(product.path) or {}
    return {
        "@id": f"#job/{product.path}",
        "@type": "CreateAction",
        "name": f"{product.rule}: {product.path}",
        "instrument": {"@id": f"workflow/scripts/{product.rule}.py"},
        "object": _refs(name if name in kept else f"#{name}" for name in needed),
        "result": _refs(
            name if name in kept else f"#{name}" for name in sorted({product.path, product.file})
        ),
        **{
            key: datetime.fromtimestamp(record[recorded], UTC).isoformat(timespec="seconds")
            for key, recorded in _TIMES.items()
            if recorded in record
        },
    }


def _file(file: Path) -> Entity:
    content = file.read_bytes()
    return {
        "@id": file.as_posix(),
        "@type": "File",
        "name": file.as_posix(),
        "encodingFormat": _TYPES.get(file.suffix[1:], "text/plain"),
        "contentSize": str(len(content)),
        "sha256": hashlib.sha256(content).hexdigest(),
    }


def _refs(names: Iterable[str]) -> list[dict[str, str]]:
    return [{"@id": name} for name in names]
