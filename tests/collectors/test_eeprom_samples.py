"""The eeprom source on images of real modules, where they lie beside the repository."""

from math import isnan
from pathlib import Path

import numpy as np
import pytest

from collectors.intake import Bounds, checked
from collectors.optics import images
from collectors.protocols.optics import reference
from collectors.protocols.optics.layout import compiled, stacked
from collectors.protocols.optics.presence import resolve
from collectors.source import Target
from collectors.sources.eeprom import Eeprom, EepromSettings
from fabrichealth.catalogue.optics import OPTICS_INFO, PRE_FEC_BER, RX_POWER, SNR
from fabrichealth.model import SeriesTable
from tests.fixtures import readings

SAMPLES = Path(__file__).parents[3] / "shared" / "samples" / "optics-raw-eeprom"
CAPTURES = sorted(SAMPLES.glob("*.json"))

pytestmark = pytest.mark.skipif(not CAPTURES, reason="no images of real modules here")

KINDS = {
    "cmis_2x400g_fr4": "pluggable",
    "cmis_2x400g_fr4_lpo": "lpo",
    "cmis_400g_cr8_dac": "dac",
    "cmis_800g_aec_credo": "aec",
    "sff8636_dac": "dac",
}


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda path: str(path.stem))
def test_a_real_module_is_what_it_is_and_both_decoders_agree(capture: Path) -> None:
    table = SeriesTable()
    source = Eeprom(EepromSettings(), Target("sample", "eeprom"), table)
    poll = checked(source.captured([capture], 0.0), Bounds(table), table, 0.0, 300.0)
    (info,) = readings(poll, table, OPTICS_INFO)
    assert info[-1] == KINDS.get(capture.stem, "pluggable")
    memory = images.read(capture)
    presence = resolve(memory)
    layout = compiled(presence, memory)
    (fast,) = layout.decode(stacked([layout.image(memory)]))
    slow = {id(one.cell): one.value for one in reference.read(memory, presence)}
    expected = np.array([slow[id(cell)] for cell in layout.cells], np.float64)
    np.testing.assert_allclose(fast, expected, rtol=1e-12, atol=0.0)


def test_what_a_real_module_reports_twice_is_the_same() -> None:
    """Noise by versatile diagnostics and by page 14h, of one module at about one moment."""
    capture = SAMPLES / "cmis_400g_lr4.json"
    memory = images.read(capture)
    told = [one for one in reference.read(memory, resolve(memory)) if isinstance(one.value, float)]
    by_page: dict[str, list[float]] = {}
    for one in told:
        if one.cell.field.name.endswith("media_snr") and not isnan(float(one.value)):
            by_page.setdefault(one.cell.page, []).append(float(one.value))
    assert len(by_page) == 2
    assert by_page["14"] == pytest.approx(by_page["24"], abs=0.5)


def test_a_real_module_s_error_ratio_and_lanes() -> None:
    table = SeriesTable()
    source = Eeprom(EepromSettings(), Target("sample", "eeprom"), table)
    poll = source.captured([SAMPLES / "cmis_400g_lr4.json"], 0.0)
    ratios = readings(poll, table, PRE_FEC_BER)
    assert ratios["sample", "1", "", "media"] == pytest.approx(7.42e-8)
    assert ratios["sample", "1", "", "host"] == pytest.approx(1.741e-8)
    assert {labels[2] for labels in readings(poll, table, RX_POWER)} == set("1234")
    assert len(readings(poll, table, SNR)) == 4
