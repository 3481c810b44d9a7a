"""What ethtool and rdma print: text and JSON, with the oddities that real tools have."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from collectors.protocols import ethtool_json, ethtool_text, module_text, rdma_statistic
from collectors.protocols.ethtool_json import Groups
from collectors.protocols.ethtool_netlink import Fec, LinkModes, Pause
from collectors.protocols.module import Alarm, Limit, Module, Signal, Value
from fabrichealth.errors import MalformedReply

READERS = (
    ethtool_text.statistics,
    ethtool_text.settings,
    ethtool_text.driver,
    ethtool_text.pause,
    ethtool_text.fec,
    ethtool_text.named,
    module_text.module,
)
LINES = st.text(
    st.sampled_from(["a", "F", " ", "\t", "\n", ":", "[", "9", ".", "²", "-", "_", "\r"]),
    max_size=60,
)
HEADS = st.sampled_from(
    [
        "",
        "NIC statistics:\n",
        "Settings for eth0:\n",
        "FEC parameters for eth0:\n",
        "Pause parameters for eth0:\n",
        "driver: x\nbus-info: y\n",
        "Identifier : 0x03 (SFP)\nConnector : 0x07 (LC)\n",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "ifname", "port", "identifier", "rx_power", "values", "config", "active",
                    "statistics", "hist", "bin_low", "total", "eth-mac", "module_temperature",
                    "connector", "rx_loss_of_signal", "laser_bias_current_high_alarm",
                    "high_alarm_threshold", "corrected_blocks", "autonegotiate", "vendor_name",
                ]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=20,
)  # fmt: skip


def pairs(plain: object) -> object:
    """Return JSON values as the parser gives them."""
    if isinstance(plain, dict):
        return ethtool_json.Pairs([(key, pairs(value)) for key, value in plain.items()])
    return [pairs(one) for one in plain] if isinstance(plain, list) else plain


@pytest.mark.parametrize("read", READERS)
@given(head=HEADS, text=LINES | st.text(max_size=60))
def test_any_text_is_read_or_is_something_else(read: object, head: str, text: str) -> None:
    assert callable(read)
    read(head + text)


@given(JSON)
def test_any_json_is_read_or_passed_over(plain: object) -> None:
    list(ethtool_json.replies(pairs(plain)))
    list(rdma_statistic.from_json(pairs(plain)))


@given(st.text(max_size=80))
def test_any_text_is_json_or_malformed(text: str) -> None:
    with suppress(MalformedReply):
        ethtool_json.parse(text)
    with suppress(MalformedReply):
        ethtool_json.parse("[" * 100_000 + text)


@given(st.text(st.sampled_from("link 0/mlx5_\n9x"), max_size=80))
def test_any_text_gives_rdma_statistics_or_none(text: str) -> None:
    list(rdma_statistic.from_text(text))


@given(
    st.dictionaries(
        st.text(st.characters(codec="ascii", exclude_characters="\n\r\x0b\x0c\x1c\x1d\x1e"))
        .map(str.strip)
        .filter(lambda name: name and not name.startswith("#")),
        st.integers(0, 2**64 - 1),
        min_size=3,
    )
)
def test_names_with_colons_and_brackets_keep_their_values(wanted: dict[str, int]) -> None:
    text = "NIC statistics:\n" + "".join(f"     {name}: {wanted[name]}\n" for name in wanted)
    found = ethtool_text.statistics(text)
    assert found is not None
    assert found.values == wanted
    assert not found.twice
    assert not found.malformed


def test_a_line_without_a_number_costs_only_itself() -> None:
    found = ethtool_text.statistics("NIC statistics:\n  a: 1\n  b: -3\n  c: 1.5\n  d\n  e: 2\n")
    assert found is not None
    assert found.values == {"a": 1, "e": 2}
    assert len(found.malformed) == 3


def test_settings_without_a_link_have_no_speed() -> None:
    text = "Settings for eth0:\n\tSpeed: Unknown!\n\tDuplex: Unknown! (255)\n\tLink detected: no\n"
    found = ethtool_text.settings(text)
    assert found is not None
    assert (found.interface, found.modes, found.up) == ("eth0", LinkModes(), False)


def test_settings_say_speed_and_lanes() -> None:
    text = "Settings for eth0:\n\tSpeed: 400000Mb/s\n\tLanes: 4\n\tLink detected: yes\n"
    found = ethtool_text.settings(text)
    assert found is not None
    assert (found.modes, found.up) == (LinkModes(4e11, 4), True)


@pytest.mark.parametrize(
    "lanes", ["    Lane 0: 70\n    Lane 1: 7\n", "  [ per_lane: 70, 7 ]\n"], ids=["older", "newer"]
)
def test_fec_text_gives_totals_whatever_follows_them(lanes: str) -> None:
    text = (
        "FEC parameters for eth0:\nSupported/Configured FEC encodings: RS\n"
        f"Active FEC encoding: RS\nStatistics:\n  corrected_blocks: 77\n{lanes}"
        "  uncorrectable_blocks: 0\n  fec_symbols_err_0: 5000\n  fec_symbol_err_1_to_3: 9\n"
    )
    found = ethtool_text.fec(text)
    assert found == Fec("rs", 77, 0, None, {(0, 0): 5000, (1, 3): 9})


def test_pause_text_gives_frames_where_the_driver_counts_them() -> None:
    text = "Pause parameters for eth0:\nAutonegotiate: off\nRX: on\nTX: on\n"
    assert ethtool_text.pause(text) == Pause(None, None)
    counted = f"{text}Statistics:\n  tx_pause_frames: 3\n  rx_pause_frames: 21\n"
    assert ethtool_text.pause(counted) == Pause(sent=3, received=21)


MODULE = """\
\tIdentifier                                : 0x11 (QSFP28)
\tConnector                                 : 0x0c (MPO Parallel Optic)
\tVendor name                               : ACME
\tVendor PN                                 : AC-100
\tVendor SN                                 : 00042
\tDate code                                 : 240711
\tRx loss of signal                         : [ No, Yes ]
\tModule temperature                        : -3.25 degrees C / 26.15 degrees F
\tModule voltage                            : 3.3110 V
\tLaser tx bias current (Channel 1)         : 7.512 mA
\tTransmit avg optical power (Channel 1)    : 1.0000 mW / 0.00 dBm
\tRcvr signal avg optical power(Channel 1)  : 0.0002 mW / -37.21 dBm
\tRcvr signal avg optical power(Channel 2)  : 0.0000 mW / -inf dBm
\tLaser rx power low alarm   (Channel 2)    : On
\tLaser rx power low alarm threshold        : 0.0501 mW / -13.00 dBm
"""


def test_module_text_is_in_si_and_dark_is_zero() -> None:
    found = module_text.module(MODULE)
    assert found is not None
    values = {(one.quantity, one.lane): one.value for one in found.values}
    assert values["temperature", 0] == -3.25
    assert values["supply_voltage", 0] == 3.311
    assert values["tx_bias", 1] == pytest.approx(7.512e-3)
    assert values["tx_power", 1] == pytest.approx(1e-3)
    assert values["rx_power", 1] == pytest.approx(10 ** (-37.21 / 10) * 1e-3)
    assert values["rx_power", 2] == 0.0
    assert found.signals == (Signal("rx_los", 1, raised=False), Signal("rx_los", 2, raised=True))
    assert found.alarms == (Alarm("rx_power", "low", "alarm", 2, raised=True),)
    (limit,) = found.limits
    assert limit[:3] == ("rx_power", "low", "alarm")
    assert limit.value == pytest.approx(1e-3 * 10**-1.3)
    assert (found.identity.vendor, found.identity.serial) == ("ACME", "00042")


def module_of(text: str) -> Module:
    ((interface, said),) = ethtool_json.replies(ethtool_json.parse(text))
    assert interface == ""
    assert isinstance(said, Module)
    return said


LIMITS = '{"high_alarm_threshold": 80, "low_alarm_threshold": -10}'


@pytest.mark.parametrize(
    "text",
    [
        f'[{{"identifier":17,"module_temperature":41.5,"module_temperature":{LIMITS}}}]',
        '[{"identifier":17,"module_temperature":41.5,'
        '"module_temperature_thresholds":{"high_alarm":80,"low_alarm":-10}}]',
    ],
    ids=["one key twice", "mended"],
)
def test_json_that_gives_a_key_twice_loses_neither_reading_nor_limits(text: str) -> None:
    found = module_of(text)
    assert found.values == (Value("temperature", 0, 41.5),)
    assert found.limits == (
        Limit("temperature", "high", "alarm", 80.0),
        Limit("temperature", "low", "alarm", -10.0),
    )


def test_json_flags_that_are_a_bare_false_say_nothing_of_lanes() -> None:
    text = '[{"identifier":17,"rx_loss_of_signal":["No","Yes"],"tx_loss_of_signal":false}]'
    assert module_of(text).signals == (
        Signal("rx_los", 1, raised=False),
        Signal("rx_los", 2, raised=True),
    )


def test_json_of_fec_pause_and_groups_names_its_interface() -> None:
    plain = ethtool_json.parse(
        '[{"ifname":"eth0","config":["Auto"],"active":["RS"],"statistics":'
        '{"corrected_blocks":{"total":8,"lanes":[8]},"hist":[{"bin_low":1,"bin_high":1,"total":6}]}},'
        '{"ifname":"eth1","autonegotiate":false,"rx":true,"tx":true,'
        '"statistics":{"tx_pause_frames":5}},'
        '{"ifname":"eth2","eth-phy":{},"eth-mac":{"FrameCheckSequenceErrors":4}}]'
    )
    assert list(ethtool_json.replies(plain)) == [
        ("eth0", Fec("rs", corrected=8, histogram={(1, 1): 6})),
        ("eth1", Pause(sent=5)),
        ("eth2", Groups({("eth-mac", "FrameCheckSequenceErrors"): 4})),
    ]


def test_rdma_statistics_are_the_same_in_json_and_text() -> None:
    plain = [{"ifname": "mlx5_0", "port": 1, "out_of_sequence": 3, "rp_cnp_handled": 9}]
    (from_json,) = rdma_statistic.from_json(plain)
    text = "link mlx5_0/1 out_of_sequence 3\n    rp_cnp_handled 9\nlink mlx5_1/1 x 1\n"
    from_text, other = rdma_statistic.from_text(text)
    assert from_json == from_text
    assert other.device == "mlx5_1"
