"""What all tests share: an example may take its time, since machines are busy."""

from os import environ

from hypothesis import HealthCheck, settings

settings.register_profile(
    "house",
    settings.get_profile("ci" if "CI" in environ else "default"),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("house")
