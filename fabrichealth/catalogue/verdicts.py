"""Verdicts: what the analyzer holds of links, domains and incidents."""

from fabrichealth.metric import Kind, Metric, Subject
from fabrichealth.units import Unit

FLAG = (0.0, 1.0)

LINK_HEALTH = Metric(
    name="link_health_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.LINK,
    help="1 well, 0 at the limit; side is the receiving port, empty for the worst.",
    valid=FLAG,
    extra=("side",),
)

LINK_STATE = Metric(
    name="link_state",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.LINK,
    help="1 for the present state.",
    valid=FLAG,
    extra=("side", "state"),
)

SECONDS_TO_VERDICT = Metric(
    name="link_seconds_to_verdict",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.LINK,
    help="Error-free seconds still needed until a link in state unknown can be called healthy.",
    extra=("side",),
)

SECONDS_TO_LIMIT = Metric(
    name="link_seconds_to_limit",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.LINK,
    help="Forecast of the seconds until the error limit, by quantile.",
    extra=("quantile",),
)

INCIDENT_ACTIVE = Metric(
    name="incident_active",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.INCIDENT,
    help="Severity as a number while open: 1 info, 2 watch, 3 ticket, 4 page.",
    valid=(1.0, 4.0),
    extra=("domain", "culprit"),
)

INCIDENT_INFO = Metric(
    name="incident_info",
    kind=Kind.INFO,
    unit=Unit.NONE,
    subject=Subject.INCIDENT,
    help="What the open incident is.",
    extra=("kind", "severity", "cause", "culprit", "suppressed_by"),
)

INCIDENT_OWNER = Metric(
    name="incident_owner_info",
    kind=Kind.INFO,
    unit=Unit.NONE,
    subject=Subject.INCIDENT,
    help="Where the culprit of the open incident stands and whose it is, to route alerts by.",
    extra=("rack", "room", "team"),
)

INCIDENT_COVERS = Metric(
    name="incident_covers",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.INCIDENT,
    help="Severity of the open incident, for each thing it accounts for: culprit and victims, by "
    "the labels that their readings carry; suppressed ones too.",
    valid=(1.0, 4.0),
    extra=("kind", "device", "port", "loop", "rack", "feed", "bundle", "source", "target"),
)

PAGES = Metric(
    name="pages_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.DOMAIN,
    help="Incidents that became a page and were not suppressed.",
)

PAGES_ACCEPTED = Metric(
    name="pages_accepted_per_week",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.DOMAIN,
    help="Pages a week that the site accepts for the links of the domain, by its policy.",
    valid=(0.0, 1e9),
)

INCIDENTS = Metric(
    name="incidents_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.NONE,
    help="Incidents opened.",
    extra=("kind", "severity", "domain"),
)

INCIDENT_SILENCED = Metric(
    name="incident_silenced",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.INCIDENT,
    help="1 while open and an operator called it false or acknowledged it as grave as it is now.",
    valid=FLAG,
    extra=("said",),
)

EVENT_ACTIVE = Metric(
    name="event_active",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.NONE,
    help="1 for ten minutes from an event on: what was done to the fabric, for annotations.",
    valid=FLAG,
    extra=("kind", "scope", "note"),
)

DOMAIN_UTILIZATION = Metric(
    name="domain_utilization_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.DOMAIN,
    help="Quantiles of utilisation over the whole inventory.",
    valid=FLAG,
    extra=("quantile",),
)

DOMAIN_IDLE = Metric(
    name="domain_idle_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.DOMAIN,
    help="Share of the inventory that is idle.",
    valid=FLAG,
)

DOMAIN_MISSING = Metric(
    name="domain_missing_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.DOMAIN,
    help="Share of the inventory that says nothing.",
    valid=FLAG,
)

DOMAIN_IMBALANCE = Metric(
    name="domain_imbalance_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.DOMAIN,
    help="Gini coefficient of utilisation.",
    valid=FLAG,
)

DOMAIN_BIMODAL = Metric(
    name="domain_bimodal",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.DOMAIN,
    help="1 while utilisation falls into two classes.",
    valid=FLAG,
)

DOMAIN_ACCELERATORS = Metric(
    name="domain_accelerators",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.DOMAIN,
    help="Accelerators of the inventory in a band of utilisation, by its lower end, or missing.",
    extra=("band",),
)

DOMAIN_LOST = Metric(
    name="domain_lost_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.DOMAIN,
    help="Share of the time of the whole inventory that is not worked now, by what takes it.",
    valid=FLAG,
    extra=("by",),
)

DOMAIN_FRAGMENTATION = Metric(
    name="domain_fragmentation_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.DOMAIN,
    help="Free but not placeable for jobs of that size.",
    valid=FLAG,
    extra=("size",),
)

DOMAIN_TIER_FRAGMENTATION = Metric(
    name="domain_tier_fragmentation_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.DOMAIN,
    help="The same with trays, racks or the domain as units; counted: all free, or fit ones only.",
    valid=FLAG,
    extra=("size", "tier", "counted"),
)

DOMAIN_STRANDED = Metric(
    name="domain_stranded_accelerators",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.DOMAIN,
    help="Free accelerators on hosts with too few for the smallest job that waits.",
    valid=(0.0, 1e9),
)

LARGEST_PLACEABLE = Metric(
    name="domain_largest_placeable_accelerators",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.DOMAIN,
    help="Largest job that fits.",
)

INTERCONNECT_UTILIZATION = Metric(
    name="domain_interconnect_utilization_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.DOMAIN,
    help="Quantiles of utilisation over links.",
    valid=FLAG,
    extra=("quantile",),
)

HOT_LINKS = Metric(
    name="domain_hot_links",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.DOMAIN,
    help="Links that are hot.",
)

DOMAIN_BISECTION = Metric(
    name="domain_bisection_bits_per_second",
    kind=Kind.GAUGE,
    unit=Unit.BITS_PER_SECOND,
    subject=Subject.DOMAIN,
    help="What one half of the domain can send to the other over links that carry now.",
    extra=("network",),
)

DOMAIN_BISECTION_SHARE = Metric(
    name="domain_bisection_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.DOMAIN,
    help="The same over what it would be if every link carried what it was built for.",
    valid=FLAG,
    extra=("network",),
)

DOMAIN_BISECTION_HEADROOM = Metric(
    name="domain_bisection_headroom_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.DOMAIN,
    help="Share of the narrowest cut that is free, in its fuller direction.",
    valid=FLAG,
    extra=("network",),
)

EFFECTIVE_ACCELERATORS = Metric(
    name="domain_effective_accelerators",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.DOMAIN,
    help="Accelerators that still work as one machine, at the share of links the site asks for.",
)

RECOVERY_SECONDS = Metric(
    name="recovery_seconds",
    kind=Kind.HISTOGRAM,
    unit=Unit.SECONDS,
    subject=Subject.DOMAIN,
    help="Duration of the phases of recovery.",
    extra=("phase",),
)

RECOVERY_BUCKET = Metric(
    name="recovery_seconds_bucket",
    kind=Kind.PART,
    unit=Unit.NONE,
    subject=Subject.DOMAIN,
    help="Recoveries whose phase took at most `le` seconds.",
    extra=("phase", "le"),
)

RECOVERY_SUM = Metric(
    name="recovery_seconds_sum",
    kind=Kind.PART,
    unit=Unit.NONE,
    subject=Subject.DOMAIN,
    help="Seconds that the phase took in all recoveries together.",
    extra=("phase",),
)

RECOVERY_COUNT = Metric(
    name="recovery_seconds_count",
    kind=Kind.PART,
    unit=Unit.NONE,
    subject=Subject.DOMAIN,
    help="Recoveries that had the phase.",
    extra=("phase",),
)

RECOVERY_BOUNDS = (
    60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0, 14400.0, 28800.0, 86400.0, 604800.0
)  # fmt: skip
"""Upper bounds of the buckets, in seconds: a minute to a week."""

DRAIN_SAFE = Metric(
    name="link_drain_safe",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.LINK,
    help="1 if the link may be drained now.",
    valid=FLAG,
)
