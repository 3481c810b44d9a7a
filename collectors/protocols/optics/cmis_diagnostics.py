"""CMIS pages 13h and 14h: loopbacks, test patterns, and diagnostics that a selector shows.

What lies on page 14h depends on its byte 128, which the host writes. A reader that only looks
takes what is shown; it never writes. Numbers of page 14h are little-endian, but for F16.
"""

from collectors.protocols.module import Item, Kind
from collectors.protocols.optics.field import LANES_OF_BANK, Field, Form, Per, When, offered
from collectors.protocols.optics.rows import flag

CONTROL = "OIF-CMIS-05.2 8.11 Page 13h"
RESULTS = "OIF-CMIS-05.2 8.12 Page 14h"

ERROR_RATIO, ERROR_COUNTS, SNR = 0x01, (0x02, 0x03, 0x04, 0x05), 0x06
LANES_SHOWN = 4
"""Lanes whose counters one selector shows."""


def _shows(selector: int, what: str) -> When:
    return When("14", 128, 0, 8, frozenset({selector}), f"page 14h does not show {what} now")


BER = offered("13", 130, 0, "bit error ratio is not measured")
COUNTERS = offered("13", 130, 1, "bit errors are not counted")
HOST_SNR = offered("13", 130, 4, "signal-to-noise ratio of the host side is not measured")
MEDIA_SNR = offered("13", 130, 5, "signal-to-noise ratio of the media side is not measured")


def _ratio(name: str, byte: int, per: Per, side: str) -> Field:
    return Field(
        f"{name}_bit_error_ratio", "14", byte,
        f"Bit error ratio of the {name} side before FEC, or of the test pattern.", RESULTS,
        Form.F16, 2, per=per, lanes=LANES_OF_BANK, gates=(BER, _shows(ERROR_RATIO, "error ratios")),
        tells=Item(Kind.VALUE, "pre_fec_ber", 0, side), banked=True,
    )  # fmt: skip


def _snr(name: str, byte: int, per: Per, gate: When, side: str) -> Field:
    return Field(
        f"{name}_snr", "14", byte, f"Signal-to-noise ratio of the {name} side.", RESULTS, size=2,
        scale=1 / 256, unit="dB", per=per, lanes=LANES_OF_BANK, little=True,
        gates=(gate, _shows(SNR, "signal-to-noise ratios")), none=frozenset({0xFFFF}),
        tells=Item(Kind.VALUE, "snr", 0, side), banked=True,
    )  # fmt: skip


def _counts(selector: int) -> tuple[Field, Field]:
    """Return the rows of errors and of bits that one selector shows, four lanes each."""
    host = selector < 0x04
    side, per = ("host", Per.HOST) if host else ("media", Per.MEDIA)
    first = 1 + LANES_SHOWN * (selector % 2)
    gates = (COUNTERS, _shows(selector, f"error counts of {side} lanes {first} to {first + 3}"))

    def row(name: str, ahead: int, says: str) -> Field:
        places = tuple((192 + 16 * lane + ahead, 0) for lane in range(LANES_SHOWN))
        return Field(f"{side}_{name}_from_lane_{first}", "14", 192 + ahead, says, RESULTS, size=8,
                     per=per, lanes=LANES_SHOWN, first=first, places=places, little=True,
                     gates=gates, banked=True)  # fmt: skip

    return (
        row("bit_errors", 0, f"Bit errors of the {side} side since counting began."),
        row("bits", 8, f"Bits of the {side} side since counting began."),
    )


def _enabled(name: str, byte: int, per: Per) -> Field:
    words = name.replace("_", " ")
    return flag(name, "13", byte, 0, f"The {words} is switched on.", CONTROL, per=per,
                lanes=LANES_OF_BANK, banked=True)  # fmt: skip


FIELDS = (
    Field("loopback_abilities", "13", 128, "Which loopbacks it can do, a bit each.", CONTROL),
    flag("ber_measured", "13", 130, 0, "Bit error ratios are measured.", CONTROL),
    flag("errors_counted", "13", 130, 1, "Bits and errors are counted.", CONTROL),
    flag("host_snr_measured", "13", 130, 4, "The host side's SNR is measured.", CONTROL),
    flag("media_snr_measured", "13", 130, 5, "The media side's SNR is measured.", CONTROL),
    _enabled("host_pattern_generator", 144, Per.HOST),
    _enabled("media_pattern_generator", 152, Per.MEDIA),
    _enabled("host_pattern_checker", 160, Per.HOST),
    _enabled("media_pattern_checker", 168, Per.MEDIA),
    _enabled("media_output_loopback", 180, Per.MEDIA),
    _enabled("media_input_loopback", 181, Per.MEDIA),
    _enabled("host_output_loopback", 182, Per.HOST),
    _enabled("host_input_loopback", 183, Per.HOST),
    Field("selector", "14", 128, "What the rest of page 14h shows.", RESULTS),
    _ratio("host", 192, Per.HOST_IN_USE, "host"),
    _ratio("media", 208, Per.MEDIA, "media"),
    _snr("host", 208, Per.HOST_IN_USE, HOST_SNR, "host"),
    _snr("media", 240, Per.MEDIA, MEDIA_SNR, "media"),
    *(row for selector in ERROR_COUNTS for row in _counts(selector)),
)
