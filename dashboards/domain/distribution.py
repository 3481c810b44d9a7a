"""How evenly the accelerators of a domain work: over all that there should be, not an average."""

from dashboards.board import Query, Question, Row
from fabrichealth.catalogue.verdicts import (
    DOMAIN_ACCELERATORS,
    DOMAIN_BIMODAL,
    DOMAIN_IDLE,
    DOMAIN_IMBALANCE,
    DOMAIN_LOST,
    DOMAIN_MISSING,
    DOMAIN_UTILIZATION,
)

HERE = '{domain=~"$domain"}'

ROW = Row(
    "Distribution of utilisation",
    (
        Question(
            "Accelerators by how busy they are",
            [
                Query(
                    f"sum by (band) (max by (domain, band) ({DOMAIN_ACCELERATORS}{HERE}))",
                    "{{band}}",
                )
            ],
            "Each column is a moment, each row a band of utilisation, the colour how many "
            "accelerators are in it; the lowest rows are those that say nothing and those that "
            "idle. Two bright rows are two classes: an average lies between them.",
            kind="heatmap",
            width=16,
            height=10,
        ),
        Question(
            "Idle, missing",
            [
                Query(f"max by (domain) ({DOMAIN_IDLE}{HERE})", "{{domain}} idle"),
                Query(f"max by (domain) ({DOMAIN_MISSING}{HERE})", "{{domain}} missing"),
            ],
            "Shares of the whole inventory, those without a word included.",
            width=8,
            height=10,
        ),
        Question(
            "Quantiles over the inventory",
            [
                Query(
                    f"max by (domain, quantile) ({DOMAIN_UTILIZATION}{HERE})",
                    "{{domain}} {{quantile}}",
                )
            ],
            "Utilisation of the least busy, the median, the busiest; what says nothing counts as "
            "doing nothing.",
        ),
        Question(
            "What holds it back",
            [Query(f"max by (domain, by) ({DOMAIN_LOST}{HERE})", "{{domain}} {{by}}")],
            "Shares of the time of the whole inventory in which nothing is worked, by what takes "
            "it; the rest is worked. `fabrichealth explain DOMAIN` tells the same in order.",
        ),
        Question(
            "Imbalance",
            [Query(f"max by (domain) ({DOMAIN_IMBALANCE}{HERE})", "{{domain}}")],
            "Gini coefficient: 0 when all work alike, towards 1 when few do everything.",
            width=6,
        ),
        Question(
            "Two classes",
            [Query(f"max by (domain) ({DOMAIN_BIMODAL}{HERE})", "{{domain}}")],
            "1 while the accelerators fall into a busy and an idle class.",
            kind="state",
            width=6,
        ),
    ),
)
