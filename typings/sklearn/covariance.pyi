from numpy import float64
from numpy.typing import NDArray

class MinCovDet:
    covariance_: NDArray[float64]
    location_: NDArray[float64]
    def __init__(
        self, *, support_fraction: float | None = None, random_state: int | None = None
    ) -> None: ...
    def fit(self, X: NDArray[float64]) -> MinCovDet: ...  # noqa: N803 - its own name for it
