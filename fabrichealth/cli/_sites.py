"""Site files of a site in pieces, one pair a store on a server, beside the sample that has it all.

`STORE.yaml` is read by collectors, each its share, and by analyzers; `STORE.host.yaml` by the
collector on each host. Both are the same for every instance: what differs comes from the
environment, as systemd, compose and Kubernetes give it.
"""

from fabrichealth.cli._units import MADE

WHERE = """\
topology: topology.yaml
# events: events.jsonl             # maintenance and changes that others announce
state: ${STATE_DIRECTORY}          # each daemon has its own
listen: ${LISTEN}
# web_config: web.yml              # TLS and authentication; without it everybody may read
"""

STORES = {
    "victoriametrics": """\
store:
  kind: prometheus
  read: http://victoriametrics:8428
  write: http://victoriametrics:8428/api/v1/write
""",
    "victoriametrics-cluster": """\
store:
  kind: prometheus
  read: http://vmselect:8481/select/0/prometheus         # 0 is the tenant
  write: http://vminsert:8480/insert/0/prometheus/api/v1/write
""",
    "influx": """\
store:
  kind: influx
  version: 2                       # docs/stores.md has 1 and 3
  url: http://influxdb:8086
  org: fabric
  bucket: fabric
  token_file: secrets/store
""",
}
"""The store section of each variant, as docs/stores.md explains it."""

KEPT_APART = """\
  labels: {site: example}          # tells sites in one store apart
"""

TARGETS = """
targets:
  - {name: leaf-01, source: sonic, address: "redis://leaf-01:6379"}
  - {name: leaf-02, source: sonic, address: "redis://leaf-02:6379"}
  - {name: spine-01, source: snmp, address: "snmp://spine-01", secret_file: secrets/community}
  - {name: host-001, source: prom, address: "http://host-001:9400/metrics"}
  - {name: host-002, source: prom, address: "http://host-002:9400/metrics"}
  - name: cdu-1
    source: redfish
    address: https://cdu-1
    user: monitor
    secret_file: secrets/cdu
# - name: cluster                  # who holds which accelerator: the token may list, and no more
#   source: scheduler
#   address: https://kubernetes.default.svc
#   secret_file: /var/run/secrets/fabrichealth/token
#   ca_file: /var/run/secrets/fabrichealth/ca.crt

notify:
  - {kind: alertmanager, url: "http://alertmanager:9093"}
"""

HOST_TARGETS = """
targets:                           # without a name they go by the host's own
  - {source: host}                 # ports, counters, modules
  - {source: aer}                  # PCIe and CXL
# - {source: kernlog}
# - {source: nvsmi}
"""

TOPOLOGY = """\
# Two domains, a leaf each and a spine over them; replace it by your own.
# `fabrichealth topology -c site.yaml` prints what was discovered in this form.
domains:
  - {name: pod-a, kind: nvlink}
  - {name: pod-b, kind: nvlink}
racks:
  - {name: r01, power_limit_watts: 130000, loop: cdu-1}
  - {name: r02, power_limit_watts: 130000, loop: cdu-1}
devices:
  - {name: host-001, role: host, rack: r01, domain: pod-a}
  - {name: host-002, role: host, rack: r02, domain: pod-b}
  - {name: leaf-01, role: switch, tier: 1, rack: r01, domain: pod-a}
  - {name: leaf-02, role: switch, tier: 1, rack: r02, domain: pod-b}
  - {name: spine-01, role: switch, tier: 2}        # of no domain: of the domain `fabric`
  - {name: cdu-1, role: cdu}
links:
  - {a: host-001/eth0, b: leaf-01/Ethernet0, technology: roce, medium: dac, speed_gbps: 400}
  - {a: host-002/eth0, b: leaf-02/Ethernet0, technology: roce, medium: dac, speed_gbps: 400}
  - {a: leaf-01/Ethernet64, b: spine-01/Ethernet0, technology: roce, medium: aoc, speed_gbps: 400}
  - {a: leaf-02/Ethernet64, b: spine-01/Ethernet8, technology: roce, medium: aoc, speed_gbps: 400}
loops:
  - {name: cdu-1, device: cdu-1, kind: cold_plate, fluid: pg25, control: flow}
"""

KUSTOMIZATION = """\
# The files beside it as a ConfigMap; daemons are told which is theirs.
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
configMapGenerator:
  - name: fabrichealth-site
    files:
"""


def files() -> dict[str, str]:
    """Return the site files and the topology that they name, by paths below `deploy/`."""
    found = {"sites/topology.yaml": f"{MADE}.\n{TOPOLOGY}"}
    for name, store in STORES.items():
        head = f"{MADE}: a site in pieces"
        body = f"\n{store}{KEPT_APART}"
        found[f"sites/{name}.yaml"] = (
            f"{head}, for its collectors and analyzers.\n{WHERE}{body}{TARGETS}"
        )
        found[f"sites/{name}.host.yaml"] = (
            f"{head}, for the collector on each host.\n{WHERE}{body}{HOST_TARGETS}"
        )
    listed = "".join(f"      - {path.partition('/')[2]}\n" for path in sorted(found))
    return found | {"sites/kustomization.yaml": f"{MADE}.\n{KUSTOMIZATION}{listed}"}
