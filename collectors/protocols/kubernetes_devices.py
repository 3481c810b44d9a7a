"""Kubernetes' accelerators: the resources that stand for them, and which of them a pod was given.

Requests count; only annotations of device plugins and resource claims say which. Drivers of claims
and classes of devices are named alike: `gpu.nvidia.com` stands for accelerators, `mig.nvidia.com`
for slices of them, `compute-domain.nvidia.com` and `dra.net` for other things.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any

ACCELERATORS = re.compile(
    r"(?:nvidia\.com/(?:gpu|pgpu)|amd\.com/gpu|habana\.ai/gaudi|gpu\.intel\.com/(?:i915|xe)"
    r"|huawei\.com/(?:npu|Ascend\d+\w*)|cambricon\.com/(?:mlu|real-mlu-counts)|metax-tech\.com/gpu"
    r"|hygon\.com/dcunum|enflame\.com/gcu|iluvatar\.ai/gpu|kunlunxin\.com/xpu|birentech\.com/gpu)"
)
"""Resources of device plugins that stand for whole accelerators."""

DRIVERS = re.compile(r"(?:gpu|npu|gaudi|tpu|neuron|mlu|xpu|dcu|gcu)\.[a-z0-9.-]+")
"""Drivers of claimed devices, and classes, that stand for accelerators."""

OF_OTHER_THINGS = frozenset({"compute-domain.nvidia.com", "dra.net"})
"""Drivers of channels between hosts and of network interfaces."""

MOST = 1_000_000
"""Accelerators of one request; more are a mistake."""


def is_accelerator(name: str, resources: Collection[str]) -> bool:
    """Return whether a resource stands for whole accelerators; `resources` are some that do."""
    own = name.removeprefix("requests.")
    return own in resources or ACCELERATORS.fullmatch(own) is not None


def drives_accelerators(name: str, resources: Collection[str]) -> bool:
    """Return whether devices of a driver, or of a class, are accelerators."""
    return name in resources or DRIVERS.fullmatch(name) is not None


def accelerators(plain: Any, resources: Collection[str]) -> int:
    """Return how many accelerators a list of quantities by resource holds.

    Quotas and pod groups may say the same twice: `nvidia.com/gpu` and `requests.nvidia.com/gpu`.
    """
    if not isinstance(plain, dict):
        return 0
    most: dict[str, int] = {}
    for key, value in plain.items():
        if is_accelerator(key, resources):
            own = key.removeprefix("requests.")
            most[own] = max(most.get(own, 0), quantity(value))
    return sum(most.values())


_ASCEND = re.compile(r"huawei\.com/(?:AscendReal|Ascend\d+\w*|npu)")
_DEVICE = re.compile(r"(?:(?:Ascend\d*\w*|npu|davinci|gpu|nvidia)-?)?(\d{1,4})", re.IGNORECASE)
_UUID = re.compile(r"(?:GPU|NPU|MLU)-[0-9A-Za-z-]{8,64}")
_SHARED = ("hami.io/vgpu-devices-allocated", "volcano.sh/vgpu-ids-new", "volcano.sh/gpu-index")


def devices(notes: Mapping[str, str]) -> tuple[str, ...]:
    """Return the accelerators that a pod's annotations name, as indices or UUIDs.

    Ascend's device plugin writes `huawei.com/AscendReal: Ascend910-0,Ascend910-1` (that key wins
    over what the scheduler asked for); sharing plugins of NVIDIA's write UUIDs.
    """
    ascend = [key for key in notes if _ASCEND.fullmatch(key)]
    real = [key for key in ascend if key.endswith("Real")] or ascend
    for key in real[:1]:
        found = [_DEVICE.fullmatch(word.strip()) for word in notes[key].split(",") if word.strip()]
        if found and all(found):
            return tuple(dict.fromkeys(one[1] for one in found if one is not None))
    for key in _SHARED:
        if uuids := tuple(dict.fromkeys(_UUID.findall(notes.get(key, "")))):
            return uuids
    return ()


def device_index(name: str) -> str:
    """Return the index in the name of a claimed device (`gpu-3`), else the name."""
    found = _DEVICE.fullmatch(name)
    return found[1] if found else name


_SLICE = re.compile(r"gpu-(\d{1,4})-mig-.+")


def sliced(name: str) -> str | None:
    """Return the index of the accelerator that a claimed device is a slice of; None: of none."""
    found = _SLICE.fullmatch(name)
    return found[1] if found else None


_SUFFIX = {"": 1, "k": 1000, "m": 0}


def quantity(plain: Any) -> int:
    """Return a whole quantity; what is none counts as 0 (plugins offer whole devices only)."""
    found = re.fullmatch(r"(\d{1,12})(k|m|)", str(plain)) if not isinstance(plain, bool) else None
    return min(int(found[1]) * _SUFFIX[found[2]], MOST) if found else 0
