"""What of `deploy/` is made from the code: site files, systemd units, rules for Kubernetes."""

from fabrichealth.cli import _rules_resource, _sample, _sites, _units


def files() -> dict[str, str]:
    """Return every generated file's text, by its path below `deploy/`."""
    return {
        **_sample.files(),
        **_units.files(),
        **_sites.files(),
        **_rules_resource.files(),
    }
