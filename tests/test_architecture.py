"""The layout is the architecture: imports run downward, third parties stay behind their fences."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from tools.rooms import PAGE, drawn, imported_later, imports_of_modules, mermaid, nodes_of, reduced

import crawlmill
from crawlmill.inputs.lists import Input
from crawlmill.mr.task.task_list import encode_task
from tests.builders import gzip_member, response

ROOT = Path(crawlmill.__file__).parent
PROJECT = ROOT.parent.parent

# From the ground up: what stands in one row may import rows before it, and itself.
LAYERS = ["later", "terminal", "errors", "units", "core", "sorting", "urls", "codecs", "storage", "analysis", "formats", "indexes", "ledger", "results", "inputs", "extraction", "serving", "sample", "api", "mr", "jobs", "report", "cli"]  # fmt: skip
FORBIDDEN = [("formats", "storage"), ("formats", "analysis"), ("analysis", "storage"), ("analysis", "codecs"), ("storage", "codecs"),
             ("indexes", "analysis"), ("ledger", "formats"), ("ledger", "indexes"), ("ledger", "analysis"),
             ("results", "formats"), ("results", "indexes"), ("results", "analysis"),
             ("sample", "inputs"), ("mr", "sample"), ("report", "jobs"), ("report", "sample"), ("report", "formats")]  # fmt: skip
FENCES = {
    "mrjob": ["mr/compat.py"], "yaml": ["mr/run/conf.py", "mr/compat.py"], "boto3": ["storage/s3/client.py", "mr/engines/emr/aws.py"], "botocore": ["storage/s3/client.py", "mr/engines/emr/aws.py"], "urllib3": ["storage"], "warcio": ["sample"],
    "brotli": ["formats"], "zstandard": ["formats", "codecs"], "deflate": [], "isal": [], "zlib_ng": [], "cramjam": ["codecs"],
    "ujson": ["formats", "analysis"], "simhash": ["analysis"], "numpy": ["analysis"], "publicsuffixlist": ["urls/suffixes.py"], "idna": ["urls/domains.py"],
    "crawlmill_native": ["core.py"],
    "pyarrow": ["indexes/columnar", "results/parquet.py"], "duckdb": ["indexes/columnar"], "sqlglot": ["indexes/columnar"], "fsspec": ["indexes/columnar"],
    "turbohtml": ["analysis/structured"], "pyoxigraph": ["analysis/structured"],
    "pyspark": ["mr/engines/spark/driver.py"], "py4j": ["mr/engines/spark/driver.py"],
}  # fmt: skip


def modules():
    return sorted(path for path in ROOT.rglob("*.py"))


def imported(path):
    """(name, line) of everything that a module imports, also inside functions, and by `later`."""
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, node.lineno
        elif module := imported_later(node):
            yield module, node.lineno


def layer_of(name):
    return name.split(".")[1] if "." in name else None


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_run_downward(path):
    own = path.relative_to(ROOT).parts[0].removesuffix(".py")
    if own not in LAYERS:
        return
    for name, line in imported(path):
        target = layer_of(name) if name.startswith("crawlmill.") else None
        if target is None or target not in LAYERS:
            continue
        assert LAYERS.index(target) <= LAYERS.index(own), f"{path}:{line} imports upward: {name}"
        assert (own, target) not in FORBIDDEN, f"{path}:{line} imports across: {name}"


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(ROOT)))
def test_third_parties_stay_behind_their_fences(path):
    place = path.relative_to(ROOT).as_posix()
    for name, line in imported(path):
        allowed = FENCES.get(name.partition(".")[0])
        if allowed is not None:
            assert any(place == fence or place.startswith(f"{fence}/") for fence in allowed), f"{path}:{line}: {name}"


def test_every_module_says_what_it_is_for():
    for path in modules():
        assert ast.get_docstring(nodes_of(path)[0]), path


def test_exported_names_exist():
    for path in modules():
        tree, *_ = nodes = nodes_of(path)
        exported = next((node.value for node in tree.body if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets)), None)  # fmt: skip
        if path.name in ("__init__.py", "__main__.py") or "tables" in path.name:
            continue
        assert exported is not None, f"{path} has no __all__"
        names = ast.literal_eval(exported)
        defined = {name for node in nodes for name in _defined(node)}
        assert set(names) <= defined, f"{path}: {set(names) - defined}"


def _defined(node):
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
        yield node.name
    elif isinstance(node, ast.Assign):
        yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        for target in node.targets:
            if isinstance(target, ast.Tuple):
                yield from (name.id for name in target.elts if isinstance(name, ast.Name))
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id
    elif isinstance(node, ast.ImportFrom):
        yield from (alias.asname or alias.name for alias in node.names)


def test_map_task_imports_only_what_it_needs(tmp_path):
    job = PROJECT / "jobs" / "tag_count.py"
    (tmp_path / "x.warc.gz").write_bytes(gzip_member(response("http://e.org/", b"<p>")))
    (tmp_path / "tasks").write_bytes(encode_task([(0, Input("x", str(tmp_path / "x.warc.gz")))]))
    code = (
        f"import sys, runpy; sys.argv = ['tag_count.py', '--step-num=0', '--mapper', '{tmp_path}/tasks']\n"
        f"try: runpy.run_path({str(job)!r}, run_name='__main__')\n"
        "except SystemExit: pass\n"
        "print(*sorted({name.partition('.')[0] for name in sys.modules} | set(sys.modules)), sep='\\n', file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stderr.split())
    assert "crawlmill.formats.archive" in loaded, done.stderr[-500:]
    assert done.stdout.endswith('"p"\t1\n')
    assert not {name for name in loaded if name.startswith("crawlmill.indexes.")} - {
        "crawlmill.indexes.cdx",
        "crawlmill.indexes.cdx.block",
    }
    for name in (
        "yaml",
        "hashlib",
        "tarfile",
        "crawlmill.formats.sequencefile",
        "boto3",
        "botocore",
        "pyarrow",
        "crawlmill.cli",
        "crawlmill.sample",
        "numpy",
        "simhash",
        "publicsuffixlist",
        "idna",
    ):
        assert name not in loaded


def test_jobs_import_nothing_from_each_other():
    jobs = {path.stem for path in (ROOT / "jobs").glob("[!_]*.py")}
    assert len(jobs) >= 7
    for path in (ROOT / "jobs").glob("[!_]*.py"):
        assert not [name for name, _ in imported(path) if name.startswith("crawlmill.jobs")], path


def test_each_job_has_a_door_of_its_name_and_no_preamble():
    modules = {path.stem: path.read_text() for path in (ROOT / "jobs").glob("[!_]*.py")}
    doors = {path.stem: path.read_text() for path in (PROJECT / "jobs").glob("*.py")}
    assert set(doors) == set(modules)
    for name, door in doors.items():
        job = name.title().replace("_", "")
        code = [line for line in door.splitlines() if line]
        assert len(code) == 7, name
        assert code[0] == modules[name].splitlines()[0], f"{name}: door and module say different things"
        assert code[-3:] == [
            f"from crawlmill.jobs.{name} import {job}",
            'if __name__ == "__main__":',
            f"    {job}.run()",
        ]
        assert "TYPE_CHECKING" not in modules[name]
        assert "sys.path" not in modules[name]
        assert modules[name].endswith(f'if __name__ == "__main__":\n    {job}.run()\n')


MAX_MODULES = 15
"""On one level: more cannot be taken in at a glance."""


def test_no_package_has_more_modules_than_can_be_taken_in():
    # Jobs are exempt: each is a module by itself, with a door of its name, and they are looked up, not taken in.
    for folder in {path.parent for path in modules()} - {ROOT / "jobs"}:
        found = [path.stem for path in folder.glob("*.py") if path.name != "__init__.py"]
        assert len(found) <= MAX_MODULES, f"{folder}: {len(found)} modules: {', '.join(sorted(found))}"


def circle_in(graph):
    """The names along one circle; None where there is none."""
    over, way = set(), []

    def visit(name):
        if name in way:
            return [*way[way.index(name) :], name]
        if name in over:
            return None
        way.append(name)
        found = next((circle for target in sorted(graph[name]) if (circle := visit(target))), None)
        way.pop()
        over.add(name)
        return found

    return next((circle for name in sorted(graph) if (circle := visit(name))), None)


def test_no_modules_import_each_other_in_a_circle():
    graph = imports_of_modules()
    graph["crawlmill"] = set()  # the door for users: it imports when it is asked, as the next test shows
    assert circle_in(graph) is None
    assert sum(map(len, graph.values())) > 500
    assert circle_in({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]


def test_the_package_itself_imports_no_module_before_it_is_asked():
    code = "import sys, crawlmill; print(*(name for name in sys.modules if name.startswith('crawlmill.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


# Within mr, from the ground up. What `doctor` examines Spark with is a job.
ROOMS = ["compat", "task", "run", "engines", "launch", "job"]
STARTS = {("engines/doctor.py", "crawlmill.mr.job.base")}


@pytest.mark.parametrize("path", sorted((ROOT / "mr").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_rooms_of_mr_import_downward(path):
    place = path.relative_to(ROOT / "mr")
    own = place.parts[0].removesuffix(".py")
    if own == "__init__":
        return
    for name, line in imported(path):
        room = name.split(".")[2] if name.startswith("crawlmill.mr.") else None
        if room in ROOMS and (place.as_posix(), name) not in STARTS:
            assert ROOMS.index(room) <= ROOMS.index(own), f"{path}:{line} imports upward: {name}"


def test_pictures_of_the_rooms_are_up_to_date():
    page = PAGE.read_text()
    assert drawn(page) == page, "imports between rooms have changed: `make rooms` draws them again"


def test_picture_leaves_out_what_other_arrows_imply():
    graph = {"a": {"b", "c", "d"}, "b": {"c"}, "c": set(), "d": set()}
    assert reduced(graph) == {"a": {"b", "d"}, "b": {"c"}, "c": set(), "d": set()}
    assert mermaid(graph).splitlines()[6:-1] == ["    a --> b", "    a --> d", "    b --> c"]
