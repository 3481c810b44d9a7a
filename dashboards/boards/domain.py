"""The domain as one machine: how even, how full, how connected, how soon whole again."""

from dashboards.board import Board, Row, Variable
from dashboards.incidents import how_many
from fabrichealth.catalogue.verdicts import DOMAIN_IDLE
from fabrichealth.kinds import (
    DOMAIN_FRAGMENTED,
    DOMAIN_HIDDEN_IDLE,
    DOMAIN_STRAGGLER,
    PARTS_VERSION_DRIFT,
)
from fabrichealth.plugins import constants

BOARD = Board(
    uid="fabrichealth-domain",
    title="Fabric health / domain",
    about="Each scale-up domain as one machine: distribution, fragmentation, links, recovery.",
    variables=(Variable("domain", "Domain", f"label_values({DOMAIN_IDLE}, domain)"),),
    opens_on=("domain",),
    rows=(
        Row(
            "Now",
            (
                how_many(
                    "Hidden idle",
                    (DOMAIN_HIDDEN_IDLE,),
                    "Domains whose published average hides accelerators that stand idle.",
                ),
                how_many(
                    "Stragglers",
                    (DOMAIN_STRAGGLER,),
                    "Accelerators that hold back the others of their job.",
                ),
                how_many(
                    "Fragmented",
                    (DOMAIN_FRAGMENTED,),
                    "Domains in which free accelerators do not make a job that waits.",
                ),
                how_many(
                    "Odd versions",
                    (PARTS_VERSION_DRIFT,),
                    "Roles in which some devices run another firmware and are ill.",
                ),
            ),
        ),
        *constants("dashboards.domain", Row).values(),
    ),
)
