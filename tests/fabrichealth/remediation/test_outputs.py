"""What each remediator asks of whom, as its documentation has it; and that a dry run says so."""

import asyncio
import json
import os
import ssl
from pathlib import Path

import pytest
from pydantic import ValidationError

from fabrichealth.errors import FabricHealthError
from fabrichealth.remediation.order import Node, Order
from fabrichealth.remediation.outputs.kubernetes_node import KubernetesNode, KubernetesSettings
from fabrichealth.remediation.outputs.slurm_drain import SlurmDrain, SlurmSettings
from fabrichealth.remediation.outputs.webhook import Webhook, WebhookSettings, signature
from fabrichealth.remediation.remediator import LeftAlone, NoAnswer
from tests.certificates import MISSING, certificate
from tests.fabrichealth.remediation.orders import candidate, server

UNSAFE = candidate(
    safe=False,
    nodes=(Node("host-001", safe=False, because="job j1 runs on it", safe_for_new=False),),
)


class TestWebhook:
    def webhook(self, folder: Path, address: str) -> Webhook:
        signs = folder / "signs"
        signs.write_text("s3cret\n")
        plain = {"kind": "webhook", "url": address, "signing_file": signs, "dry_run": False}
        return Webhook(WebhookSettings.model_validate(plain))

    async def test_an_order_is_signed_and_each_attempt_has_the_same_key(
        self, tmp_path: Path
    ) -> None:
        async with server() as kept:
            hook = self.webhook(tmp_path, f"{kept.address}/drain")
            (order,) = hook.orders(candidate())
            await hook.apply(order)
            (later,) = hook.orders(candidate(safe_because="another reason now"))
            await hook.apply(later)
            await hook.undo(order)
        first, _, third = kept.asked
        assert (first.method, first.path) == ("POST", "/drain")
        at = first.headers["X-Fabrichealth-Timestamp"]
        assert first.headers["X-Fabrichealth-Signature"] == (
            f"sha256={signature(b's3cret', at, first.body)}"
        )
        keys = [one.headers["Idempotency-Key"] for one in kept.asked]
        assert keys[0] == keys[1] != keys[2]
        told = json.loads(first.body)
        assert (told["do"], told["incident"], told["culprit"]) == ("drain", "i7", "host-001")
        assert json.loads(third.body)["do"] == "return"
        assert first.body.decode() in hook.says(order)

    async def test_a_refusal_is_one_line_and_no_secret(self, tmp_path: Path) -> None:
        async with server() as kept:
            hook = self.webhook(tmp_path, kept.address)
            kept.status = 503
            (order,) = hook.orders(candidate())
            with pytest.raises(FabricHealthError) as wrong:
                await hook.apply(order)
        assert "refuses (503" in str(wrong.value)
        assert "s3cret" not in str(wrong.value)

    async def test_a_secret_that_is_not_there_sends_nothing(self, tmp_path: Path) -> None:
        async with server() as kept:
            hook = self.webhook(tmp_path, kept.address)
            (tmp_path / "signs").unlink()
            (order,) = hook.orders(candidate())
            with pytest.raises(FabricHealthError, match="check signing_file"):
                await hook.apply(order)
        assert kept.asked == []

    def test_what_is_not_safe_is_not_asked(self, tmp_path: Path) -> None:
        assert list(self.webhook(tmp_path, "http://h").orders(UNSAFE)) == []

    def test_without_a_secret_to_sign_by_it_cannot_be_had(self) -> None:
        with pytest.raises(ValidationError, match="signing_file"):
            WebhookSettings.model_validate({"kind": "webhook", "url": "http://h"})


@pytest.mark.skipif(MISSING, reason="no openssl; install the package openssl")
class TestKubernetesNode:
    async def test_a_condition_is_patched_and_lifted_by_the_service_account(
        self, tmp_path: Path
    ) -> None:
        made = certificate(tmp_path, "api")
        secured = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        secured.load_cert_chain(made.file, made.key)
        (tmp_path / "token").write_text("account-token")
        async with server(secured) as kept:
            plain = {"kind": "kubernetes_node", "url": kept.address, "dry_run": False,
                     "secret_file": tmp_path / "token", "ca_file": made.file}  # fmt: skip
            nodes = KubernetesNode(KubernetesSettings.model_validate(plain))
            (order,) = nodes.orders(candidate())
            await nodes.apply(order)
            (tmp_path / "token").write_text("renewed-token")  # as the kubelet does each hour
            await nodes.undo(order)
        sets, lifts = kept.asked
        assert (sets.method, sets.path) == ("PATCH", "/api/v1/nodes/host-001/status")
        assert sets.headers["Content-Type"] == "application/strategic-merge-patch+json"
        assert sets.headers["Authorization"] == "Bearer account-token"
        assert lifts.headers["Authorization"] == "Bearer renewed-token"
        ((found,), (over,)) = (
            json.loads(one.body)["status"]["conditions"] for one in (sets, lifts)
        )
        assert set(found) == {"type", "status", "reason", "message", "lastHeartbeatTime",
                              "lastTransitionTime"}  # fmt: skip
        assert (found["type"], found["status"], found["reason"]) == (
            "FabricProblem", "True", "DeviceDown",
        )  # fmt: skip
        assert "#/incident/i7" in found["message"]
        assert (over["type"], over["status"]) == ("FabricProblem", "False")
        assert "/api/v1/nodes/host-001/status condition FabricProblem=True" in nodes.says(order)

    async def test_a_host_that_is_no_node_is_left_and_one_that_went_needs_no_lifting(self) -> None:
        async with server() as kept:
            plain = {"kind": "kubernetes_node", "url": kept.address, "secret_file": None}
            nodes = KubernetesNode(KubernetesSettings.model_validate(plain))
            (order,) = nodes.orders(candidate())
            kept.status = 404
            with pytest.raises(LeftAlone, match="host-001 is no node of this cluster"):
                await nodes.apply(order)
            await nodes.undo(order)
            kept.status = 403
            for refused in (nodes.apply, nodes.undo):
                with pytest.raises(FabricHealthError, match=r"refuses \(403"):
                    await refused(order)

    async def test_a_server_that_nobody_vouches_for_gets_no_token(self, tmp_path: Path) -> None:
        made, other = certificate(tmp_path, "api"), certificate(tmp_path, "other")
        secured = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        secured.load_cert_chain(made.file, made.key)
        async with server(secured) as kept:
            plain = {"kind": "kubernetes_node", "url": kept.address, "ca_file": other.file,
                     "secret_file": None}  # fmt: skip
            nodes = KubernetesNode(KubernetesSettings.model_validate(plain))
            (order,) = nodes.orders(candidate())
            with pytest.raises(FabricHealthError, match="certificate"):
                await nodes.apply(order)
        assert kept.asked == []

    def test_by_default_it_is_a_pods_own_account_and_a_dry_run(self) -> None:
        section = KubernetesSettings.model_validate({"kind": "kubernetes_node"})
        assert section.dry_run
        assert str(section.secret_file).endswith("serviceaccount/token")
        assert list(KubernetesNode(section).orders(UNSAFE)) == []
        assert list(KubernetesNode(section).orders(candidate(nodes=()))) == []


SCONTROL = """#!/bin/sh
here=$(dirname "$0")
[ -f "$here/slow" ] && { sleep 30; exit 1; }  # a wrapper, whose child holds its output open
echo "$@" >> "$here/ran"
case "$1 $2 $4" in
"-o show went") echo "Node went not found"; exit 1 ;;
esac
case "$1 $2" in
"-o show")
  echo "NodeName=$4 CPUTot=128 State=$(cat "$here/state") Partitions=gpu $(cat "$here/reason")" ;;
"update NodeName=gone") echo "slurm_update error: Invalid node name specified" >&2; exit 1 ;;
esac
"""


class TestSlurmDrain:
    def slurm(self, folder: Path, state: str = "IDLE", reason: str = "") -> SlurmDrain:
        tool = folder / "scontrol"
        tool.write_text(SCONTROL)
        tool.chmod(0o755)
        (folder / "state").write_text(state)
        (folder / "reason").write_text(
            f"Reason={reason} [root@2026-01-01T00:00:00]" if reason else ""
        )
        plain = {"kind": "slurm_drain", "command": str(tool), "dry_run": False, "timeout": "2s"}
        return SlurmDrain(SlurmSettings.model_validate(plain))

    def order(self, slurm: SlurmDrain, node: str = "host-001") -> Order:
        nodes = (Node(node, safe=False, because="a job runs", safe_for_new=True),)
        (order,) = slurm.orders(candidate(nodes=nodes))
        return order

    def ran(self, folder: Path) -> list[str]:
        lines = (folder / "ran").read_text().splitlines()
        return [line for line in lines if not line.startswith("-o")]

    async def test_a_node_is_drained_with_one_reason_of_one_line(self, tmp_path: Path) -> None:
        slurm = self.slurm(tmp_path)
        order = self.order(slurm)
        await slurm.apply(order)
        (line,) = self.ran(tmp_path)
        assert line == (
            "update NodeName=host-001 State=DRAIN Reason=fabrichealth i7 device.down: "
            "host-001 is dark: all 4 peers say so"
        )
        assert slurm.says(order) == f"{tmp_path / 'scontrol'} {line}"

    async def test_what_somebody_drained_is_left_and_neither_resumed(self, tmp_path: Path) -> None:
        slurm = self.slurm(tmp_path, "IDLE+DRAIN", "disk swap by kim")
        order = self.order(slurm)
        with pytest.raises(LeftAlone, match="disk swap by kim"):
            await slurm.apply(order)
        await slurm.undo(order)
        assert self.ran(tmp_path) == []

    async def test_what_bears_our_reason_is_drained_once_and_resumed(self, tmp_path: Path) -> None:
        slurm = self.slurm(tmp_path, "MIXED+DRAIN", "fabrichealth i7 device.down: dark")
        order = self.order(slurm)
        await slurm.apply(order)
        await slurm.undo(order)
        assert self.ran(tmp_path) == ["update NodeName=host-001 State=RESUME"]

    async def test_of_another_incident_is_not_resumed(self, tmp_path: Path) -> None:
        slurm = self.slurm(tmp_path, "IDLE+DRAIN", "fabrichealth i71 device.down: dark")
        await slurm.undo(self.order(slurm))
        assert self.ran(tmp_path) == []

    async def test_a_command_that_fails_hangs_or_is_missing_is_one_line(
        self, tmp_path: Path
    ) -> None:
        slurm = self.slurm(tmp_path)
        with pytest.raises(FabricHealthError, match="Invalid node name"):
            await slurm.apply(self.order(slurm, "gone"))
        with pytest.raises(FabricHealthError, match="Node went not found"):
            await slurm.apply(self.order(slurm, "went"))
        await slurm.undo(self.order(slurm, "went"))  # removed from Slurm: nothing to resume
        (tmp_path / "state").write_text("")
        with pytest.raises(FabricHealthError, match="tells no state of host-001"):
            await slurm.apply(self.order(slurm))
        (tmp_path / "slow").touch()
        with pytest.raises(NoAnswer, match="not done within 2 s"):
            async with asyncio.timeout(15):
                await slurm.apply(self.order(slurm))
        os.unlink(tmp_path / "scontrol")  # noqa: PTH108
        with pytest.raises(FabricHealthError, match="cannot be run"):
            await slurm.apply(self.order(slurm))

    @pytest.mark.parametrize("name", ["-x", "a b", "a,b", "host[1-9]", "a\nState=DOWN", ""])
    def test_a_name_that_is_more_than_one_node_is_never_asked(
        self, name: str, tmp_path: Path
    ) -> None:
        nodes = (Node(name, safe=True, because="", safe_for_new=True),)
        assert list(self.slurm(tmp_path).orders(candidate(nodes=nodes))) == []
