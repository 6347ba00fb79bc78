"""Write the Prometheus operator's PrometheusRule from k8s/monitoring/alerts.yaml.

`python docs/write_rules.py` writes the file; a test says where it is no longer current.
"""

from __future__ import annotations

from pathlib import Path

K8S = Path(__file__).parents[1] / "k8s"
TARGET = K8S / "components" / "monitoring-operator" / "prometheusrule.yaml"
_HEAD = """\
# Written by docs/write_rules.py from k8s/monitoring/alerts.yaml.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: seine
  labels: {release: kube-prometheus-stack}
spec:
"""


def written() -> str:
    """Return the file's text."""
    alerts = (K8S / "monitoring" / "alerts.yaml").read_text("utf-8")
    groups = alerts[alerts.index("groups:") :]
    return _HEAD + "".join(f"  {line}\n" if line else "\n" for line in groups.splitlines())


if __name__ == "__main__":
    TARGET.write_text(written(), "utf-8")
