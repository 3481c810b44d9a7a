"""Codes of SFF-8024 and of the memory maps: identifiers, connectors, interfaces, technologies."""

IDENTIFIERS = {  # SFF-8024 table 4-1
    0x01: "GBIC", 0x02: "soldered", 0x03: "SFP/SFP+/SFP28", 0x06: "XFP", 0x0B: "DWDM-SFP/SFP+",
    0x0C: "QSFP", 0x0D: "QSFP+", 0x0E: "CXP", 0x11: "QSFP28", 0x12: "CXP2", 0x13: "CDFP",
    0x16: "CDFP style 3", 0x17: "microQSFP", 0x18: "QSFP-DD", 0x19: "OSFP", 0x1A: "SFP-DD",
    0x1B: "DSFP", 0x1C: "MiniLink x4", 0x1D: "MiniLink x8", 0x1E: "QSFP (CMIS)",
    0x1F: "SFP-DD (CMIS)", 0x20: "SFP (CMIS)", 0x21: "OSFP-XD", 0x22: "ELSFP", 0x23: "CDFP x4",
    0x24: "CDFP x8", 0x25: "CDFP x16", 0x80: "co-packaged engine",
}  # fmt: skip

CONNECTORS = {  # SFF-8024 table 4-3
    0x01: "SC", 0x07: "LC", 0x08: "MT-RJ", 0x09: "MU", 0x0B: "optical pigtail", 0x0C: "MPO 1x12",
    0x0D: "MPO 2x16", 0x20: "HSSDC", 0x21: "copper pigtail", 0x22: "RJ45",
    0x23: "no separable connector", 0x24: "MXC", 0x25: "CS", 0x26: "SN", 0x27: "MPO 2x12",
    0x28: "MPO 1x16",
}  # fmt: skip

HOST_INTERFACES = {  # SFF-8024 table 4-5
    0x01: "1000BASE-CX", 0x02: "XAUI", 0x03: "XFI", 0x04: "SFI", 0x05: "25GAUI C2M",
    0x06: "XLAUI C2M", 0x07: "XLPPI", 0x08: "LAUI-2 C2M", 0x09: "50GAUI-2 C2M",
    0x0A: "50GAUI-1 C2M", 0x0B: "CAUI-4 C2M", 0x0C: "100GAUI-4 C2M", 0x0D: "100GAUI-2 C2M",
    0x0E: "200GAUI-8 C2M", 0x0F: "200GAUI-4 C2M", 0x10: "400GAUI-16 C2M", 0x11: "400GAUI-8 C2M",
    0x13: "10GBASE-CX4", 0x14: "25GBASE-CR CA-L", 0x15: "25GBASE-CR CA-S", 0x16: "25GBASE-CR CA-N",
    0x17: "40GBASE-CR4", 0x18: "50GBASE-CR", 0x19: "100GBASE-CR10", 0x1A: "100GBASE-CR4",
    0x1B: "100GBASE-CR2", 0x1C: "200GBASE-CR4", 0x1D: "400G-CR8", 0x1E: "1000BASE-T",
    0x1F: "2.5GBASE-T", 0x20: "5GBASE-T", 0x21: "10GBASE-T", 0x25: "8GFC", 0x26: "10GFC",
    0x27: "16GFC", 0x28: "32GFC", 0x29: "64GFC", 0x2A: "128GFC", 0x2B: "256GFC",
    0x2C: "InfiniBand SDR", 0x2D: "InfiniBand DDR", 0x2E: "InfiniBand QDR", 0x2F: "InfiniBand FDR",
    0x30: "InfiniBand EDR", 0x31: "InfiniBand HDR", 0x32: "InfiniBand NDR", 0x33: "CPRI E.96",
    0x34: "CPRI E.99", 0x35: "CPRI E.119", 0x36: "CPRI E.238", 0x37: "OTL3.4", 0x38: "OTL4.10",
    0x39: "OTL4.4", 0x3A: "OTLC.4", 0x3B: "FOIC1.4", 0x3C: "FOIC1.2", 0x3D: "FOIC2.8",
    0x3E: "FOIC2.4", 0x3F: "FOIC4.16", 0x40: "FOIC4.8", 0x41: "CAUI-4 C2M without FEC",
    0x42: "CAUI-4 C2M with RS(528,514)", 0x43: "50GBASE-CR2 with RS(528,514)",
    0x44: "50GBASE-CR2 with fire code", 0x45: "50GBASE-CR2 without FEC", 0x46: "100GBASE-CR1",
    0x47: "200GBASE-CR2", 0x48: "400GBASE-CR4", 0x49: "800GBASE-CR8", 0x4A: "128GFC",
    0x4B: "100GAUI-1-S C2M", 0x4C: "100GAUI-1-L C2M", 0x4D: "200GAUI-2-S C2M",
    0x4E: "200GAUI-2-L C2M", 0x4F: "400GAUI-4-S C2M", 0x50: "400GAUI-4-L C2M",
    0x51: "800GAUI-8-S C2M", 0x52: "800GAUI-8-L C2M", 0x53: "OTL4.2", 0x80: "200GAUI-1 C2M",
    0x81: "400GAUI-2 C2M", 0x82: "800GAUI-4 C2M", 0x83: "1.6TAUI-8 C2M",
}  # fmt: skip

MULTIMODE = {  # SFF-8024 table 4-6
    0x01: "10GBASE-SW", 0x02: "10GBASE-SR", 0x03: "25GBASE-SR", 0x04: "40GBASE-SR4",
    0x05: "40G SWDM4", 0x06: "40G BiDi", 0x07: "50GBASE-SR", 0x08: "100GBASE-SR10",
    0x09: "100GBASE-SR4", 0x0A: "100G SWDM4", 0x0B: "100G BiDi", 0x0C: "100GBASE-SR2",
    0x0D: "100GBASE-SR1", 0x0E: "200GBASE-SR4", 0x0F: "400GBASE-SR16", 0x10: "400GBASE-SR8",
    0x11: "400GBASE-SR4", 0x12: "800GBASE-SR8", 0x13: "8GFC", 0x14: "10GFC", 0x15: "16GFC",
    0x16: "32GFC", 0x17: "64GFC", 0x18: "128GFC-MM4", 0x19: "256GFC-MM4", 0x1A: "400GBASE-SR4.2",
    0x1B: "200GBASE-SR2", 0x1C: "128GFC", 0x1D: "100GBASE-VR1", 0x1E: "200GBASE-VR2",
    0x1F: "400GBASE-VR4", 0x20: "800GBASE-VR8",
}  # fmt: skip

SINGLE_MODE = {  # SFF-8024 table 4-7
    0x01: "10GBASE-LW", 0x02: "10GBASE-EW", 0x03: "10G-ZW", 0x04: "10GBASE-LR", 0x05: "10GBASE-ER",
    0x06: "10G-ZR", 0x07: "25GBASE-LR", 0x08: "25GBASE-ER", 0x09: "40GBASE-LR4",
    0x0A: "40GBASE-FR", 0x0B: "50GBASE-FR", 0x0C: "50GBASE-LR", 0x0D: "100GBASE-LR4",
    0x0E: "100GBASE-ER4", 0x0F: "100G PSM4", 0x10: "100G CWDM4", 0x11: "100G 4WDM-10",
    0x12: "100G 4WDM-20", 0x13: "100G 4WDM-40", 0x14: "100GBASE-DR", 0x15: "100GBASE-FR1",
    0x16: "100GBASE-LR1", 0x17: "200GBASE-DR4", 0x18: "200GBASE-FR4", 0x19: "200GBASE-LR4",
    0x1A: "400GBASE-FR8", 0x1B: "400GBASE-LR8", 0x1C: "400GBASE-DR4", 0x1D: "400GBASE-FR4",
    0x1E: "400G-LR4-10", 0x1F: "8GFC", 0x20: "10GFC", 0x21: "16GFC", 0x22: "32GFC", 0x23: "64GFC",
    0x24: "128GFC-PSM4", 0x26: "128GFC-CWDM4", 0x34: "100G CWDM4-OCP", 0x38: "10G-SR",
    0x39: "10G-LR", 0x3A: "25G-SR", 0x3B: "25G-LR", 0x3C: "10G-LR-BiDi", 0x3D: "25G-LR-BiDi",
    0x3E: "400ZR, DWDM, amplified", 0x3F: "400ZR, single wavelength, unamplified",
    0x40: "50GBASE-ER", 0x41: "200GBASE-ER4", 0x42: "400GBASE-ER8", 0x43: "400GBASE-LR4-6",
    0x44: "100GBASE-ZR", 0x45: "128GFC", 0x46: "ZR400-OFEC-16QAM", 0x47: "ZR300-OFEC-8QAM",
    0x48: "ZR200-OFEC-QPSK", 0x49: "ZR100-OFEC-QPSK", 0x4A: "100G-LR1-20", 0x4B: "100G-ER1-30",
    0x4C: "100G-ER1-40", 0x4D: "400GBASE-ZR", 0x4E: "10GBASE-BR", 0x4F: "25GBASE-BR",
    0x50: "50GBASE-BR", 0x55: "400GBASE-DR4-2", 0x56: "800GBASE-DR8", 0x57: "800GBASE-DR8-2",
    0x73: "200GBASE-DR1", 0x74: "200GBASE-DR1-2", 0x75: "400GBASE-DR2", 0x76: "400GBASE-DR2-2",
    0x77: "800GBASE-DR4", 0x78: "800GBASE-DR4-2",
    0x8F: "100G-DR1-LPO", 0x90: "200G-DR2-LPO", 0x91: "400G-DR4-LPO", 0x92: "800G-DR8-LPO",
    0x93: "400G-FR4-LPO",
}  # fmt: skip

COPPER = {0x01: "copper cable", 0xBF: "passive loopback"}  # SFF-8024 table 4-8
ACTIVE = {  # SFF-8024 table 4-9
    0x01: "active cable, BER below 1e-12", 0x02: "active cable, BER below 5e-5",
    0x03: "active cable, BER below 2.6e-4", 0x04: "active cable, BER below 1e-6",
    0xBF: "active loopback",
}  # fmt: skip
BASE_T = {  # SFF-8024 table 4-10
    0x01: "1000BASE-T", 0x02: "2.5GBASE-T", 0x03: "5GBASE-T", 0x04: "10GBASE-T",
}  # fmt: skip

MEDIA_TYPES = {1: "mmf", 2: "smf", 3: "copper", 4: "active cable", 5: "base-t"}
"""CMIS lower byte 85; it says which of the tables above names the media interface."""
MEDIA_INTERFACES = {1: MULTIMODE, 2: SINGLE_MODE, 3: COPPER, 4: ACTIVE, 5: BASE_T}

TECHNOLOGIES = {  # CMIS 00h:212; SFF-8636 00h:147 has the first sixteen in its high nibble
    0x00: "850 nm VCSEL", 0x01: "1310 nm VCSEL", 0x02: "1550 nm VCSEL", 0x03: "1310 nm FP",
    0x04: "1310 nm DFB", 0x05: "1550 nm DFB", 0x06: "1310 nm EML", 0x07: "1550 nm EML",
    0x08: "other", 0x09: "1490 nm DFB", 0x0A: "copper, unequalised",
    0x0B: "copper, passive equalised", 0x0C: "copper, near and far limiting active equalisers",
    0x0D: "copper, far limiting active equaliser", 0x0E: "copper, near limiting active equaliser",
    0x0F: "copper, linear active equaliser", 0x10: "C-band tunable laser",
    0x11: "L-band tunable laser",
}  # fmt: skip
FIRST_COPPER, FIRST_ACTIVE, LINEAR = 0x0A, 0x0C, 0x0F
COPPERS = frozenset(range(FIRST_COPPER, LINEAR + 1))
"""Technologies without light."""

MODULE_STATES = {1: "LowPwr", 2: "PwrUp", 3: "Ready", 4: "PwrDn", 5: "Fault"}
FAULT_CAUSES = {
    0: "none", 1: "TEC runaway", 2: "data memory", 3: "program memory", 4: "transmitter",
    5: "receiver", 6: "temperature",
}  # fmt: skip
DATA_PATH_STATES = {
    0: "none", 1: "Deactivated", 2: "Init", 3: "Deinit", 4: "Activated", 5: "TxTurnOn",
    6: "TxTurnOff", 7: "Initialized",
}  # fmt: skip
CONFIGURATION_STATES = {
    0: "undefined", 1: "success", 2: "rejected", 3: "invalid application", 4: "invalid data path",
    5: "invalid signal integrity", 6: "lanes in use", 7: "partial data path", 12: "in progress",
}  # fmt: skip
FUNCTIONS = {0: "transmission", 1: "resource"}
POWER_CLASSES = {code: str(code + 1) for code in range(8)}
AVERAGE_OR_OMA = {0: "OMA", 1: "average"}
LASER_STATES = {0: "off", 1: "ramping", 2: "on"}
LASER_FAULTS = {0: "none", 1: "APC loop", 2: "ACC loop"}
