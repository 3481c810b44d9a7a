"""Every board is what Grafana's own types say that a board is (@grafana/schema, TypeScript)."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from dashboards.generate import files

FOLDER = Path(__file__).parent / "schema"
COMPILER = FOLDER / "node_modules" / "typescript" / "bin" / "tsc"
NODE = shutil.which("node")
TYPES = "./node_modules/@grafana/schema/dist/types/raw"
PANELS = TYPES + "/composable/{}/panelcfg/x/types.gen"

pytestmark = pytest.mark.skipif(
    NODE is None or not COMPILER.exists(), reason="node and its packages: make system"
)

KINDS = {
    "heatmap": "heatmap",
    "nodeGraph": "nodegraph",
    "stat": "stat",
    "state-timeline": "statetimeline",
    "status-history": "statushistory",
    "table": "table",
    "text": "text",
    "timeseries": "timeseries",
}
"""Type of a panel -> folder of its types."""

WITHOUT_FIELDS = frozenset({"nodeGraph", "stat", "text"})
"""Kinds that have no field settings of their own."""

LOOSE = """
// JSON has the words of an enum, leaves out what has a default, and writes null for "none"
type Loose<T> = T extends string ? `${T}` | T : T extends number | boolean | null | undefined ? T
  : T extends (infer U)[] ? Loose<U>[]
  : T extends object ? { [K in keyof T]?: Loose<T[K]> | null } : T;
type Fields<F> = { defaults: Loose<Omit<FieldConfigSource["defaults"], "custom">> & { custom?:
  Loose<F> }, overrides: Loose<FieldConfigSource["overrides"]> };
// a query of annotations has the keys of its own data source
type Whole = Loose<Omit<Dashboard, "panels" | "annotations">> & { annotations?: {
  list: (Loose<Omit<AnnotationQuery, "target">> & { [key: string]: unknown })[] } };
type Common = Loose<Omit<Panel, "options" | "fieldConfig" | "type" | "targets" | "links">> & {
  targets?: { refId: string, [key: string]: unknown }[] };
"""


def imported() -> str:
    """Return the lines that import Grafana's types."""
    named = [
        "import type { AnnotationQuery, Dashboard, Panel, RowPanel, FieldConfigSource } from "
        f'"{TYPES}/../veneer/dashboard.types";'
    ]
    named += [
        f'import type * as {module} from "{PANELS.format(module)}";' for module in KINDS.values()
    ]
    return "\n".join(named)


def as_type(kind: str) -> str:
    """Return the TypeScript type of a kind of panel."""
    if kind == "row":
        return 'Loose<RowPanel> & { type: "row" }'
    module = KINDS[kind]
    fields = "{}" if kind in WITHOUT_FIELDS else f"{module}.FieldConfig"
    return (
        f'Common & {{ type: "{kind}", options: Loose<{module}.Options>, '
        f"fieldConfig?: Fields<{fields}> }}"
    )


def literals(name: str, board: dict[str, Any]) -> list[str]:
    """Return a board and its panels as typed constants."""
    whole = {key: value for key, value in board.items() if key != "panels"}
    lines = [f"const {name}: Whole = {json.dumps(whole)};"]
    for panel in board["panels"]:
        given = json.dumps(panel)
        lines.append(f"const {name}_{panel['id']}: {as_type(panel['type'])} = {given};")
    return lines


def complaints(tmp_path: Path, boards: dict[str, dict[str, Any]]) -> list[str]:
    """Return what the compiler says against boards, by their names."""
    lines = [imported(), LOOSE]
    for name, board in boards.items():
        lines += literals(name.replace("-", "_"), board)
    source = tmp_path / "boards.ts"
    source.write_text("\n".join(lines) + "\nexport {};\n")
    (tmp_path / "node_modules").symlink_to(FOLDER / "node_modules")
    options = ["--strict", "--noEmit", "--skipLibCheck", "--module", "esnext"]
    options += ["--moduleResolution", "bundler", "--pretty", "false"]
    found = subprocess.run(
        [str(NODE), str(COMPILER), *options, str(source)],
        capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path,
    )  # fmt: skip
    said = found.stdout + found.stderr
    return [line for line in said.splitlines() if "error" in line]


BOARDS = {
    name.removeprefix("generated/").removesuffix(".json").replace("/", "_"): json.loads(text)
    for name, text in files().items()
}


def test_every_board_passes_grafanas_types(tmp_path: Path) -> None:
    assert complaints(tmp_path, BOARDS) == []


WRONG: dict[str, dict[str, Any]] = {
    "legend": {"options": {"legend": "yes"}},
    "showLegends": {"options": {"showLegends": True}},
    "gridPos": {"gridPos": {"x": "0", "y": 0, "w": 1, "h": 1}},
    "unit": {"fieldConfig": {"defaults": {"unit": 3}, "overrides": []}},
    "drawStile": {"fieldConfig": {"defaults": {"custom": {"drawStile": "line"}}, "overrides": []}},
}


def test_what_grafana_would_not_take_is_refused(tmp_path: Path) -> None:
    sound = next(one for one in BOARDS["fleet"]["panels"] if one["type"] == "timeseries")
    boards = {name: {"panels": [{**sound, **change}]} for name, change in WRONG.items()}
    said = complaints(tmp_path, boards)
    numbers = [line.partition("(")[2].partition(",")[0] for line in said]
    assert len(set(numbers)) == len(WRONG)  # one line of the source each
    for name in WRONG:
        assert any(name in line or "'string' is not" in line for line in said), (name, said)
