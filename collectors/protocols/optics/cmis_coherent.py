"""Coherent modules (OIF-C-CMIS-01.3): performance of FEC on page 34h, of the link on page 35h.

Values are those of the module's last interval. Ratios of error: corrected over received bits.
"""

from collectors.protocols.optics.field import Field, Form

FEC = "OIF-C-CMIS-01.3 Page 34h"
LINK = "OIF-C-CMIS-01.3 Page 35h"

COUNTS = (  # name, byte, bytes, what it counts
    ("rx_bits", 128, 8, "Bits received in the interval."),
    ("rx_bits_sub_interval", 136, 8, "Bits received in a sub-interval."),
    ("corrected_bits", 144, 8, "Bits that FEC corrected in the interval."),
    ("corrected_bits_lowest", 152, 8, "Fewest bits corrected in a sub-interval."),
    ("corrected_bits_highest", 160, 8, "Most bits corrected in a sub-interval."),
    ("rx_frames", 168, 4, "Frames received in the interval."),
    ("rx_frames_sub_interval", 172, 4, "Frames received in a sub-interval."),
    ("uncorrected_frames", 176, 4, "Frames that FEC could not correct."),
    ("uncorrected_frames_lowest", 180, 4, "Fewest such frames in a sub-interval."),
    ("uncorrected_frames_highest", 184, 4, "Most such frames in a sub-interval."),
)

QUANTITIES = (  # name, byte, form, bytes, scale, unit; average, minimum, maximum in this order
    ("chromatic_dispersion", 128, Form.SIGNED, 4, 1.0, "ps/nm"),
    ("differential_group_delay", 140, Form.UNSIGNED, 2, 0.01e-12, "s"),
    ("second_order_pmd", 146, Form.UNSIGNED, 2, 0.01, "ps2"),
    ("polarisation_dependent_loss", 152, Form.UNSIGNED, 2, 0.1, "dB"),
    ("osnr", 158, Form.UNSIGNED, 2, 0.1, "dB"),
    ("esnr", 164, Form.UNSIGNED, 2, 0.1, "dB"),
    ("carrier_frequency_offset", 170, Form.SIGNED, 2, 1e6, "Hz"),
    ("error_vector_magnitude", 176, Form.UNSIGNED, 2, 1 / 65535, ""),
    ("tx_power_total", 182, Form.SIGNED, 2, 0.01, "dBm"),
    ("rx_power_total", 188, Form.SIGNED, 2, 0.01, "dBm"),
    ("rx_power_signal", 194, Form.SIGNED, 2, 0.01, "dBm"),
    ("polarisation_rotation", 200, Form.UNSIGNED, 2, 1e3, "rad/s"),
    ("modulation_error_ratio", 206, Form.UNSIGNED, 2, 0.1, "dB"),
)

FIELDS = (
    *(Field(name, "34", byte, says, FEC, size=size) for name, byte, size, says in COUNTS),
    *(
        Field(f"{name}_{statistic}", "35", byte + number * size,
              f"The {statistic} {name.replace('_', ' ')} of the interval.", LINK, form, size,
              scale=scale, unit=unit)
        for name, byte, form, size, scale, unit in QUANTITIES
        for number, statistic in enumerate(("average", "lowest", "highest"))
    ),
)  # fmt: skip
