"""The site file was changed and is wrong: the daemon goes on with the old one."""

from alerts.alert import Alert, Case, Runbook
from fabrichealth.catalogue.watchers import SITE_FILE_TAKEN
from fabrichealth.kinds import Severity

ALERT = Alert(
    name="FabricSiteFileRefused",
    expr=f"{SITE_FILE_TAKEN} == 0",
    hold="5m",
    severity=Severity.TICKET,
    summary="The site file is wrong; the daemon goes on with the one before",
    runbook=Runbook(
        meaning="The daemon was told to read its site file again and found a fault in it, or in a "
        "file that it names.",
        impact="Changes since are not in force, and a restart would not start.",
        diagnosis="`fabrichealth check -c site.yaml` names file, line and key.",
        mitigation="Mend it and reload (`systemctl reload fabrichealth`, or SIGHUP).",
    ),
    cases=(
        Case({str(SITE_FILE_TAKEN): "1x5 0x20"}, at="15m", fires=True, why="wrong", labels={}),
        Case(
            {str(SITE_FILE_TAKEN): "1x5 0x3 1x20"},
            at="15m",
            fires=False,
            why="wrong for a moment, mended and reloaded",
        ),
    ),
)
