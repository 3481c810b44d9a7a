"""The house as it stands on disk: packages, sizes, wheel, generated files, and what is not said."""

import ast
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from fabrichealth.__main__ import main
from tests.house.checkout import PACKAGES, ROOT, modules, named, tracked

LONGEST = 300

LONG = {
    "fabrichealth/kinds.py": "a table: one row a kind of incident",
    "fabrichealth/store/database.py": "the SQLite side of one store, kept by one reader",
    "fabrichealth/store/embedded.py": "one class that does what the store's protocol asks",
    "fabrichealth/store/grid.py": "one format, written and read",
    "fabrichealth/store/head.py": "one format, written and read",
}
"""Modules that are longer, and why they are not split."""

SHIPPED = {
    ".py",
    ".typed",
    ".yaml",
    ".json",
    ".md",
    ".html",
    ".js",
    ".css",
    ".svg",
    ".tmpl",
    ".txt",
}
"""Kinds of files in the wheel: code, typing marker, maps, rules, boards, runbooks, the page,
templates and examples of notifications."""

FOREIGN = (
    r"(?<![\w./-])/(home|work|root|Users)/[\w.]",  # somebody's machine
    r"\b(?!docs\.)(pypi|registry|proxy|mirror|mirrors|artifactory|nexus)\.[a-z0-9-]+\.[a-z]{2,}\b",
    r"--(extra-)?index-url\b",
    r"\bfile://",
)
"""What a repository that speaks of the product alone does not hold."""


def foreign(text: str) -> list[str]:
    """Return the words of a text that speak of a machine or a registry."""
    return [found[0] for pattern in FOREIGN for found in re.finditer(pattern, text)]


def is_table(file: Path) -> bool:
    """Return whether a module only names things: imports and constants, a row each."""
    body = ast.parse(file.read_text(encoding="utf-8")).body
    return all(isinstance(node, ast.Import | ast.ImportFrom | ast.Assign | ast.AnnAssign | ast.Expr)
               for node in body)  # fmt: skip


def test_a_module_is_read_in_one_sitting() -> None:
    long = {
        named(file)
        for file in modules(*PACKAGES)
        if len(file.read_text(encoding="utf-8").splitlines()) > LONGEST and not is_table(file)
    }
    assert long - LONG.keys() == set()


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_is_typed_and_every_folder_is_a_package(package: str) -> None:
    assert (ROOT / package / "py.typed").exists()
    folders = {file.parent for file in modules(package)}
    assert [named(folder) for folder in folders if not (folder / "__init__.py").exists()] == []


def test_generated_files_are_what_the_code_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "--check"]) == 0, capsys.readouterr().out


def test_no_file_speaks_of_a_machine_or_a_registry() -> None:
    said = {
        named(file): foreign(file.read_text(encoding="utf-8", errors="replace"))
        for file in tracked()
        if file != Path(__file__).resolve()  # it holds the words themselves
    }
    assert {name: words for name, words in said.items() if words} == {}


@pytest.mark.parametrize(
    "text",
    [
        "see /home/somebody/notes",
        "root: /work/site.yaml",
        "pip install -i https://pypi.example.org/simple x",
        "pip install --index-url X",
    ],
)
def test_such_words_would_be_found(text: str) -> None:
    assert foreign(text)


def test_the_wheel_holds_our_packages_and_nothing_else(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert {named(file) for file in tracked(*PACKAGES)} - held == set()
    assert {name.partition("/")[0] for name in held} == set(PACKAGES)
    assert {name for name in held if Path(name).suffix not in SHIPPED} == set()
    for kind in ("collectors/maps/pages/", "alerts/runbooks/", "dashboards/generated/"):
        assert any(name.startswith(kind) for name in held), kind


def test_layers_hold() -> None:
    """Imports point downwards: pyproject.toml says which room may use which."""
    told = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert told.returncode == 0, told.stdout
