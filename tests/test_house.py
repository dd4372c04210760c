"""The house rules: who may know whom, and a clean desk."""

from __future__ import annotations

import ast
import doctest
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY


def sources(*folders: str) -> list[Path]:
    """The Python files of some rooms, as paths from the top."""
    return sorted(
        path.relative_to(REPOSITORY)
        for folder in folders
        for path in (REPOSITORY / folder).rglob("*.py")
        if path.is_file()
    )


def imported(path: Path) -> set[str]:
    """The top names that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse((REPOSITORY / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add(node.module.partition(".")[0])
    return found


@pytest.mark.parametrize(
    ("room", "above"),
    [
        ("evaluators", {"streamlit", "data", "pages", "app", "cli", "commands", "tests", "sqlite_utils", "sqlite3"}),
        ("data", {"streamlit", "pages", "app", "cli", "commands", "tests"}),
        ("pages", {"sqlite3", "sqlite_utils", "tests", "cli", "commands"}),
    ],
)
def test_nothing_knows_who_calls_it(room, above):
    assert {str(path): imported(path) & above for path in sources(room) if imported(path) & above} == {}


def test_pages_contain_no_sql():
    sql = re.compile(r"\b(SELECT\s.+\sFROM|INSERT\s+INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM|CREATE\s+TABLE)\b", re.DOTALL)
    texts = {path: (REPOSITORY / path).read_text(encoding="utf-8") for path in [*sources("pages"), Path("app.py")]
             if (REPOSITORY / path).exists()}  # fmt: skip
    assert [str(path) for path, text in texts.items() if sql.search(text)] == []


def test_loading_the_lower_rooms_never_loads_streamlit():
    code = "import sys, cli, data.runs, evaluators; assert 'streamlit' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, check=True)


@pytest.mark.parametrize("arguments", [["check"], ["format", "--check"]], ids=" ".join)
def test_ruff_has_nothing_to_say(arguments):
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *arguments, "."], cwd=REPOSITORY, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", sources("evaluators", "data"), ids=str)
def test_examples_in_docstrings_hold(path):
    if ">>>" in (REPOSITORY / path).read_text(encoding="utf-8"):
        module = importlib.import_module(".".join(path.with_suffix("").parts).removesuffix(".__init__"))
        assert doctest.testmod(module).failed == 0


README = REPOSITORY / "README.md"


@pytest.mark.skipif(not README.exists(), reason="there is no README.md yet")
def test_python_examples_of_the_readme_compile_and_import():
    for block in re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        if ">>>" in block:
            example = doctest.DocTestParser().get_doctest(block, {}, "README.md", "README.md", 0)
            assert doctest.DocTestRunner().run(example).failed == 0
            continue
        for node in ast.parse(block).body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                exec(compile(ast.Module([node], []), "README.md", "exec"), {})


@pytest.mark.skipif(not README.exists(), reason="there is no README.md yet")
def test_commands_of_the_readme_exist():
    from cli import cli

    named = set(re.findall(r"cli\.py ([a-z]+)", README.read_text(encoding="utf-8")))
    assert named <= set(cli.commands)
