"""Reading the testbed's files: what a row says, and what it must not be taken for."""

import gzip
from pathlib import Path

from benchmarks.optical_failure import ILL_END, readings, recording, topology
from fabrichealth.catalogue.optics import RX_POWER, TX_POWER
from fabrichealth.catalogue.ports import PRE_FEC_BER, UP

HEAD = "Timestamp,Type,ID,BER,OSNR,InputPower,OutputPower,Failure\n"


def row(**more: str) -> dict[str, str]:
    return {"Type": "Devices", "ID": "SPO2/18/11", "BER": "", "OSNR": "", **more}


def test_no_errors_without_a_signal_is_loss_of_signal_and_not_health() -> None:
    told = {metric: value for metric, _, value in readings(row(BER="0.0", OSNR="0.0"))}
    assert PRE_FEC_BER not in told
    assert told[UP] == 0.0


def test_an_amplifier_tells_light_in_and_out() -> None:
    plain = row(Type="Infrastructure", ID="Ampli1", InputPower="-19.2", OutputPower="0.7")
    told = {(metric, labels): value for metric, labels, value in readings(plain)}
    assert told == {(RX_POWER, ("Ampli1", "in", "1")): -19.2,
                    (TX_POWER, ("Ampli1", "out", "1")): 0.7}  # fmt: skip


def test_the_ill_end_faces_the_first_transponder() -> None:
    peer = topology().peer(ILL_END)
    assert peer is not None
    assert peer.device == "SPO1"


def test_runs_of_labels_are_events(tmp_path: Path) -> None:
    lines = [f"{at},Devices,SPO2/18/11,1e-7,26,,,{'1.0' if 3 <= at < 9 or at == 12 else ''}\n"
             for at in range(0, 20, 3)]  # fmt: skip
    with gzip.open(tmp_path / "x.csv.gz", "wt") as file:
        file.write(HEAD + "".join(lines))
    assert recording(tmp_path / "x.csv.gz").events == [(3.0, 6.0), (12.0, 12.0)]
