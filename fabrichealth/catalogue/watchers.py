"""The watchers: what reading and judging cost, and whether they still happen."""

from fabrichealth.metric import Kind, Metric, Subject
from fabrichealth.units import Unit

SOURCE_UP = Metric(
    name="source_up",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.TARGET,
    help="1 while the target answers.",
    valid=(0.0, 1.0),
)

POLL_SECONDS = Metric(
    name="source_poll_seconds",
    kind=Kind.GAUGE,
    unit=Unit.SECONDS,
    subject=Subject.TARGET,
    help="How long the last visit took.",
)

LAST_SUCCESS = Metric(
    name="source_last_success_timestamp_seconds",
    kind=Kind.GAUGE,
    unit=Unit.TIMESTAMP_SECONDS,
    subject=Subject.TARGET,
    help="When the target last answered.",
)

READINGS = Metric(
    name="source_readings",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.TARGET,
    help="Readings in the last poll.",
)

REJECTED = Metric(
    name="source_rejected_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.TARGET,
    help="Readings refused, by reason.",
    extra=("reason",),
)

PARTIAL = Metric(
    name="source_partial",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.TARGET,
    help="1 when some of the target did not answer.",
    valid=(0.0, 1.0),
)

SPOOLED_SAMPLES = Metric(
    name="store_spooled_samples",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.NONE,
    help="Samples that wait on disk for the store.",
)

DROPPED_SAMPLES = Metric(
    name="store_dropped_samples_total",
    kind=Kind.COUNTER,
    unit=Unit.NONE,
    subject=Subject.NONE,
    help="Samples that were lost before the store took them, or that were no numbers.",
)

ANALYSIS_SECONDS = Metric(
    name="analysis_seconds",
    kind=Kind.GAUGE,
    unit=Unit.SECONDS,
    subject=Subject.DETECTOR,
    help="How long the detector's last pass took.",
)

ANALYSIS_COVERAGE = Metric(
    name="analysis_coverage_ratio",
    kind=Kind.GAUGE,
    unit=Unit.RATIO,
    subject=Subject.DETECTOR,
    help="Share of what the detector should judge that had data enough.",
    valid=(0.0, 1.0),
)

ANALYSIS_TIME = Metric(
    name="analysis_timestamp_seconds",
    kind=Kind.GAUGE,
    unit=Unit.TIMESTAMP_SECONDS,
    subject=Subject.NONE,
    extra=("domains",),
    help="The moment that the last pass of the analyzer judged; of several each names its domains.",
)

ANALYSIS_FAILING = Metric(
    name="analysis_failing",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.DETECTOR,
    help="1 while the detector fails at every pass and repeats what it said before.",
    valid=(0.0, 1.0),
)

SITE_FILE_TAKEN = Metric(
    name="site_file_taken",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.NONE,
    help="1 if the site file was taken up when it was last read, 0 if it is wrong.",
    valid=(0.0, 1.0),
)

RECEIVER_UP = Metric(
    name="receiver_up",
    kind=Kind.GAUGE,
    unit=Unit.NONE,
    subject=Subject.NONE,
    help="1 while whom the daemon tells of incidents takes what it is told.",
    valid=(0.0, 1.0),
    extra=("receiver",),
)
