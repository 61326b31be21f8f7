"""Tests that the deployment files are consistent and name only existing settings.

No container or network is needed.
"""

from __future__ import annotations

import re
import subprocess
import sys
from configparser import ConfigParser
from ipaddress import ip_address, ip_network
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import given
from hypothesis.strategies import ip_addresses

from documented_commands import read_commands
from monitoring.checks.load import MAX_BUSY_RATIO
from monitoring.cli.processes import app
from monitoring.cli.stopping import DROPPING_SECONDS
from monitoring.cli.supervising import REACTION_SECONDS
from monitoring.outbound import addresses
from monitoring.outbound.addresses import is_permitted
from monitoring.settings.description import describe_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from monitoring.outbound.addresses import Address, Network

ROOT = Path(__file__).parent.parent
BASE = ROOT / "deploy" / "kubernetes" / "base"
EXAMPLE = ROOT / "deploy" / "kubernetes" / "overlays" / "example"

DEFAULTS = {row.name: row.default for row in describe_settings()}
SETTINGS = set(DEFAULTS)
FOREIGN = re.compile(r"PATH|OPENSSL_CONF|PYTHON[A-Z]+|AWS_[A-Z_]+")

POSTGRESQL_CONNECTIONS = 100 - 3  # the default, minus the connections for the superuser

# A process that is stopped ends at most this long after SHUTDOWN_TIMEOUT_SECONDS.
ENDING_SECONDS = DROPPING_SECONDS + REACTION_SECONDS

Manifest = dict[str, Any]


def read_dockerfile() -> str:
    return (ROOT / "Dockerfile").read_text()


def read_compose() -> Manifest:
    compose: Manifest = yaml.safe_load((ROOT / "compose.yaml").read_text())
    return compose


def read_kustomization(folder: Path) -> Manifest:
    kustomization: Manifest = yaml.safe_load((folder / "kustomization.yaml").read_text())
    return kustomization


def read_settings_file(folder: Path) -> dict[str, str]:
    return read_settings_lines(folder / "settings.env")


def read_settings_lines(file: Path) -> dict[str, str]:
    return dict(line.split("=", 1) for line in file.read_text().splitlines())


def read_manifests(folder: Path) -> list[Manifest]:
    files = [folder / name for name in read_kustomization(folder)["resources"] if name.endswith(".yaml")]
    return [manifest for file in files for manifest in yaml.safe_load_all(file.read_text())]


def read_unit(name: str) -> ConfigParser:
    unit = ConfigParser(interpolation=None, strict=False)  # because EnvironmentFile= appears twice
    unit.optionxform = str  # type: ignore[assignment, method-assign] # systemd's names have capitals
    unit.read(ROOT / "deploy" / "systemd" / f"monitoring-{name}.service")
    return unit


MANIFESTS = read_manifests(BASE)
DEPLOYMENTS = [one["metadata"]["name"] for one in MANIFESTS if one["kind"] == "Deployment"]
UNITS = {"api": "serve", "worker": "worker", "checker": "checker"}  # and the command that each runs


def find_manifest(kind: str, name: str) -> Manifest:
    return next(one for one in MANIFESTS if one["kind"] == kind and one["metadata"]["name"] == name)


def pod_templates() -> dict[str, Manifest]:
    return {
        one["metadata"]["name"]: one["spec"]["template"]
        for one in MANIFESTS
        if one["kind"] in {"Deployment", "Job"}
    }


def container_of(name: str) -> Manifest:
    container: Manifest
    (container,) = find_manifest("Deployment", name)["spec"]["template"]["spec"]["containers"]
    return container


def own_settings(container: Manifest) -> dict[str, str]:
    """Return a container's own settings, without those that all containers have."""
    return {
        variable["name"]: variable["value"] for variable in container.get("env", []) if "value" in variable
    }


def pod_labels(template: Manifest) -> dict[str, str]:
    """Return a pod's labels as kustomize generates them."""
    added: dict[str, str] = read_kustomization(BASE)["labels"][0]["pairs"]
    return {**added, **template["metadata"]["labels"]}


def read_blocks() -> list[tuple[Network, list[Network]]]:
    """Return the networks that a checker may reach on any port, each with its exceptions."""
    rules = find_manifest("NetworkPolicy", "monitoring-checker")["spec"]["egress"]
    (anywhere,) = (rule["to"] for rule in rules if "ports" not in rule)
    blocks = [target["ipBlock"] for target in anywhere]
    return [(ip_network(block["cidr"]), list(map(ip_network, block["except"]))) for block in blocks]


BLOCKS = read_blocks()


def is_let_out(address: Address) -> bool:
    """Return whether the policy permits a checker to connect.

    The kernel sends IPv4-mapped addresses as IPv4.
    """
    address = getattr(address, "ipv4_mapped", None) or address
    return any(
        address in network and not any(address in closed for closed in exceptions)
        for network, exceptions in BLOCKS
    )


def edges() -> Iterator[str]:
    """Yield the first and last address of every network in policy and client, and adjacent addresses."""
    of_policy = chain.from_iterable((network, *exceptions) for network, exceptions in BLOCKS)
    of_client = (*addresses._NEVER, *addresses._NOT_PUBLIC)  # noqa: SLF001
    for network in (*of_policy, *of_client):
        for edge in (network.network_address, network.broadcast_address):
            for step in (-1, 0, 1):
                if 0 <= int(edge) + step < 2**edge.max_prefixlen:
                    yield str(edge + step)


def unknown(names: set[str]) -> set[str]:
    return {name for name in names - SETTINGS if not FOREIGN.fullmatch(name)}


class TestSettings:
    def test_the_image_sets_none_that_does_not_exist(self) -> None:
        assigned = re.findall(
            r"^(?:ENV|   ) ([A-Z_]+)=", read_dockerfile().split("AS service")[1], re.MULTILINE
        )
        assert {"HOST", "DATA_DIR"} < set(assigned)
        assert not unknown(set(assigned))

    def test_compose_sets_none_that_does_not_exist(self) -> None:
        assert not unknown(set(read_compose()["x-monitoring"]["environment"]))

    @pytest.mark.parametrize("folder", [BASE, EXAMPLE], ids=["base", "example"])
    def test_manifests_set_none_that_does_not_exist(self, folder: Path) -> None:
        assert not unknown(set(read_settings_file(folder)))

    @pytest.mark.parametrize("name", DEPLOYMENTS)
    def test_containers_set_none_that_does_not_exist(self, name: str) -> None:
        assert not unknown(set(own_settings(container_of(name))))

    @pytest.mark.parametrize("name", UNITS)
    def test_units_set_none_that_does_not_exist(self, name: str) -> None:
        unit = read_unit(name)
        assert unit["Service"]["Environment"].split("=")[0] in SETTINGS


class TestImage:
    def test_it_holds_whatever_it_copies(self) -> None:
        allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line[0] == "!"}
        copies = re.findall(r"^COPY (?!--from)(.+) \S+$", read_dockerfile(), re.MULTILINE)
        copied = {name for names in copies for name in names.split()}
        assert copied == allowed
        assert all((ROOT / name).exists() for name in copied)

    def test_it_never_runs_as_root(self) -> None:
        for stage in read_dockerfile().split("\nFROM ")[2:]:
            users = re.findall(r"^USER (.+)$", stage, re.MULTILINE)
            assert not users or users[-1] == "10001:10001"

    def test_a_build_without_a_target_is_the_small_one(self) -> None:
        assert re.findall(r"^FROM .+ AS (.+)$", read_dockerfile(), re.MULTILINE)[-1] == "service"

    def test_both_kinds_run_alike(self) -> None:
        *_, with_engine, small = re.split(r"^FROM .+$", read_dockerfile(), flags=re.MULTILINE)
        of_one_kind = re.compile(
            r"^(?:#.*|COPY \S+ /tmp/|COPY deploy.*|RUN apt(?:.*\\\n)+.*|.*OPENSSL.*)\n", re.MULTILINE
        )
        assert of_one_kind.sub("", with_engine).strip() == of_one_kind.sub("", small).strip()


class TestCompose:
    def test_the_processes_run_commands_that_there_are(self) -> None:
        services = read_compose()["services"]
        commands = {services[name]["command"][0] for name in ("api", "worker", "checker", "migrate")}
        assert commands == {"serve", "worker", "checker", "migrate"}
        callbacks = [command.callback for command in app.registered_commands]
        assert commands <= {callback.__name__ for callback in callbacks if callback}

    def test_only_the_api_can_be_reached_from_outside(self) -> None:
        assert [name for name, service in read_compose()["services"].items() if "ports" in service] == ["api"]

    def test_no_secret_has_a_value_or_a_default(self) -> None:
        text = (ROOT / "compose.yaml").read_text()
        secrets = re.findall(r"\$\{(\w*(?:PASSWORD|KEY|SECRET)\w*)(.*?)\}", text)
        assert len(secrets) > 4
        assert all(fallback.startswith(":?") for _, fallback in secrets)

    def test_valkey_has_a_password_which_the_processes_know(self) -> None:
        services = read_compose()["services"]
        *_, command = services["valkey"]["entrypoint"]
        assert "requirepass %s" in command
        password = services["valkey"]["environment"]["REDISCLI_AUTH"]
        for name in UNITS:
            assert services[name]["environment"]["REDIS_URL"].startswith(f"redis://:{password}@valkey:")

    def test_a_process_has_time_to_stop(self) -> None:
        compose = read_compose()
        shutdown_seconds = compose["x-monitoring"]["environment"]["SHUTDOWN_TIMEOUT_SECONDS"]
        for name in ("api", "worker", "checker"):
            service = compose["services"][name]
            drain = service["environment"].get("DRAIN_SECONDS", "${DRAIN_SECONDS:-0}")
            drain_seconds = int(re.fullmatch(r"\$\{DRAIN_SECONDS:-(\d+)\}", drain)[1])  # type: ignore[index]
            patience_seconds = int(service["stop_grace_period"].removesuffix("s"))
            assert (drain_seconds > 0) == (name == "api")
            assert patience_seconds >= drain_seconds + shutdown_seconds + ENDING_SECONDS

    def test_the_url_of_each_engine_names_a_service(self) -> None:
        compose = read_compose()
        environment = compose["services"]["api"]["environment"]
        for name in ("DATABASE_URL", "REDIS_URL", "AWS_ENDPOINT_URL"):
            host = re.findall(r"(?://|@)(\w+)(?=[:/])", environment[name])[-1]
            assert host in compose["services"]

    def test_the_processes_leave_postgresql_connections(self) -> None:
        compose = read_compose()
        assert "DATABASE_POOL_MAX_CONNECTIONS" not in compose["x-monitoring"]["environment"]
        processes = sum(int(compose["services"][name]["command"][-1]) for name in UNITS)
        assert processes * int(DEFAULTS["DATABASE_POOL_MAX_CONNECTIONS"]) <= POSTGRESQL_CONNECTIONS


class TestKubernetes:
    def test_every_selector_matches_the_pods_it_means(self) -> None:
        templates = {
            pod["metadata"]["labels"]["app.kubernetes.io/component"]: pod for pod in pod_templates().values()
        }
        for manifest in MANIFESTS:
            if manifest["kind"] not in {"Deployment", "Service", "PodDisruptionBudget"}:
                continue
            selector = manifest["spec"]["selector"]
            selector = selector.get("matchLabels", selector)
            component = manifest["metadata"]["labels"]["app.kubernetes.io/component"]
            assert selector["app.kubernetes.io/component"] == component
            assert selector.items() <= pod_labels(templates[component]).items()

    def test_pods_spread_over_nodes_among_their_own(self) -> None:
        for name in DEPLOYMENTS:
            deployment = find_manifest("Deployment", name)["spec"]
            constraint = deployment["template"]["spec"]["topologySpreadConstraints"][0]
            assert constraint["labelSelector"] == deployment["selector"]

    def test_autoscalers_scale_what_there_is_and_own_its_number(self) -> None:
        for name in DEPLOYMENTS:
            target = find_manifest("HorizontalPodAutoscaler", name)["spec"]["scaleTargetRef"]
            deployment = find_manifest(target["kind"], target["name"])
            assert "replicas" not in deployment["spec"]

    def test_every_pod_reads_the_settings_and_the_secret_that_the_docs_make(self) -> None:
        generated = read_kustomization(BASE)["configMapGenerator"][0]["name"]
        for template in pod_templates().values():
            (container,) = template["spec"]["containers"]
            (settings,) = container["envFrom"]
            assert settings["configMapRef"]["name"] == generated
            sources = [each["valueFrom"]["secretKeyRef"] for each in container["env"] if "valueFrom" in each]
            (secret,) = {source["name"] for source in sources}
            assert f"secret generic {secret} " in (ROOT / "docs/running.md").read_text()

    def test_the_example_changes_what_the_base_has(self) -> None:
        base, example = read_kustomization(BASE), read_kustomization(EXAMPLE)
        assert example["configMapGenerator"][0]["name"] == base["configMapGenerator"][0]["name"]
        images = {pod["spec"]["containers"][0]["image"] for pod in pod_templates().values()}
        assert images == {image["name"] for image in example["images"]}
        (ingress,) = (one for one in read_manifests(EXAMPLE) if one["kind"] == "Ingress")
        backend = ingress["spec"]["rules"][0]["http"]["paths"][0]["backend"]["service"]
        ports = find_manifest("Service", backend["name"])["spec"]["ports"]
        assert backend["port"]["name"] in {port["name"] for port in ports}

    def test_every_port_that_is_named_is_one_of_the_container(self) -> None:
        for name in DEPLOYMENTS:
            container = container_of(name)
            ports = {port["name"]: port["containerPort"] for port in container["ports"]}
            probes = [probe for key, probe in container.items() if key.endswith("Probe")]
            assert {probe["httpGet"]["port"] for probe in probes} <= set(ports)
            assert str(ports["metrics"]) == read_settings_file(BASE)["METRICS_PORT"]

    def test_no_pod_has_privileges_or_variables_of_other_services(self) -> None:
        for template in pod_templates().values():
            (container,) = template["spec"]["containers"]
            assert template["spec"]["securityContext"]["runAsNonRoot"]
            assert template["spec"]["enableServiceLinks"] is False
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }

    def test_a_process_has_time_to_stop(self) -> None:
        shutdown_seconds = int(read_settings_file(BASE)["SHUTDOWN_TIMEOUT_SECONDS"])
        for name in DEPLOYMENTS:
            pod = find_manifest("Deployment", name)["spec"]["template"]["spec"]
            (container,) = pod["containers"]
            drain_seconds = int(own_settings(container).get("DRAIN_SECONDS", "0"))
            patience_seconds = pod["terminationGracePeriodSeconds"]
            assert (drain_seconds > 0) == (name == "monitoring-api")
            assert patience_seconds >= drain_seconds + shutdown_seconds + ENDING_SECONDS

    def test_at_their_largest_they_leave_postgresql_connections(self) -> None:
        connections = 0
        for name in DEPLOYMENTS:
            processes = find_manifest("HorizontalPodAutoscaler", name)["spec"]["maxReplicas"]
            processes += find_manifest("Deployment", name)["spec"]["strategy"]["rollingUpdate"]["maxSurge"]
            settings = read_settings_file(BASE) | own_settings(container_of(name))
            connections += processes * int(settings["DATABASE_POOL_MAX_CONNECTIONS"])
        assert connections <= POSTGRESQL_CONNECTIONS

    def test_the_checkers_scaler_acts_before_a_checker_takes_no_more_work(self) -> None:
        scaler = find_manifest("HorizontalPodAutoscaler", "monitoring-checker")["spec"]
        target_percent = scaler["metrics"][0]["resource"]["target"]["averageUtilization"]
        requested = container_of("monitoring-checker")["resources"]["requests"]["cpu"]
        cores = int(requested.removesuffix("m")) / 1000
        assert cores * target_percent / 100 <= MAX_BUSY_RATIO * 0.75


class TestWhatACheckerMayReach:
    """Tests that the network policy refuses what the client refuses, in case one of them is wrong."""

    @given(ip_addresses())
    def test_is_what_the_client_permits(self, address: Address) -> None:
        assert is_let_out(address) == is_permitted(address)

    @pytest.mark.parametrize("edge", sorted(set(edges())))
    def test_ends_where_the_clients_permission_ends(self, edge: str) -> None:
        assert is_let_out(ip_address(edge)) == is_permitted(ip_address(edge))

    def test_in_the_cluster_it_is_names_only(self) -> None:
        (names, _) = find_manifest("NetworkPolicy", "monitoring-checker")["spec"]["egress"]
        assert {port["port"] for port in names["ports"]} == {53}

    def test_the_policies_for_checkers_select_checkers_and_nobody_else(self) -> None:
        labels = {name: pod_labels(pod) for name, pod in pod_templates().items()}
        egress = [
            one["spec"]
            for one in [*MANIFESTS, *read_manifests(EXAMPLE)]
            if one["kind"] == "NetworkPolicy" and "Egress" in one["spec"]["policyTypes"]
        ]
        assert len(egress) > 1
        for policy in egress:
            selected = policy["podSelector"]["matchLabels"].items()
            assert [name for name in labels if selected <= labels[name].items()] == ["monitoring-checker"]

    def test_an_overlay_opens_no_more_than_the_ports_of_what_the_service_stands_on(self) -> None:
        (policy,) = (one for one in read_manifests(EXAMPLE) if one["kind"] == "NetworkPolicy")
        (rule,) = policy["spec"]["egress"]
        assert {port["port"] for port in rule["ports"]} == {5432, 6379}


class TestUnits:
    @pytest.mark.parametrize(("name", "command"), UNITS.items())
    def test_they_start_a_command_and_wait_for_its_end(self, name: str, command: str) -> None:
        service = read_unit(name)["Service"]
        assert service["ExecStart"].split()[1] == command
        default_seconds = float(DEFAULTS["SHUTDOWN_TIMEOUT_SECONDS"])
        assert float(service["TimeoutStopSec"]) >= 2 * default_seconds + ENDING_SECONDS

    @pytest.mark.programs("systemd-analyze")
    @pytest.mark.parametrize("name", UNITS)
    def test_they_may_do_little_besides_their_work(self, name: str) -> None:
        """The exposure of each unit is rated below 2 of 10. systemd considers everything below 5 fine."""
        unit = ROOT / "deploy" / "systemd" / f"monitoring-{name}.service"
        command = ["systemd-analyze", "security", "--offline=true", "--threshold=20", str(unit)]
        judged = subprocess.run(command, capture_output=True, text=True, check=False)
        assert judged.returncode == 0, judged.stdout + judged.stderr

    def test_they_can_open_more_files_than_a_login_may(self) -> None:
        assert {read_unit(name)["Service"]["LimitNOFILE"] for name in UNITS} == {"16384"}

    def test_the_documented_settings_give_each_unit_of_a_machine_its_own_metrics_port(
        self, tmp_path: Path
    ) -> None:
        (commands,) = (
            block
            for block in read_commands(ROOT / "docs" / "running.md", "### With systemd")
            if "METRICS_PORT" in block
        )
        in_this_folder = commands.replace("/etc/monitoring", f"{tmp_path}/etc").replace(
            "/opt/monitoring/bin", str(Path(sys.executable).parent)
        )
        subprocess.run(["bash", "-euo", "pipefail", "-c", in_this_folder], check=True)
        files = {path.name: read_settings_lines(path) for path in (tmp_path / "etc").iterdir()}
        assert not unknown(set().union(*files.values()))
        for path in (tmp_path / "etc").iterdir():
            assert path.stat().st_mode & 0o077 == 0
        assert {"DATABASE_URL", "REDIS_URL", "ENCRYPTION_KEYS"} <= files["environment"].keys()
        assert {"SIGNING_KEYS", "WEBHOOK_SECRETS"} <= files["api.environment"].keys()
        ports = {files[f"{name}.environment"]["METRICS_PORT"] for name in UNITS}
        assert len(ports) == len(UNITS)
        for name in UNITS:
            own = f"EnvironmentFile=-/etc/monitoring/{name}.environment"
            assert own in (ROOT / "deploy/systemd" / f"monitoring-{name}.service").read_text().splitlines()
