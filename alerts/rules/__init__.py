"""Rules, one file each, each with its runbook and its proof."""
