"""What stands in deploy/ is well-formed and speaks of commands and settings that exist."""

import dataclasses
import re
import shlex
from pathlib import Path
from typing import Any

import click
import kubernetes_validate
import pytest
import yaml

from agentscope import observe
from agentscope.app.settings import ALIASES, PREFIX, Settings
from agentscope.cli.entry import COMMANDS, main

DEPLOY = Path(__file__).parents[2] / "deploy"
COMPOSE = sorted(DEPLOY.glob("compose*.yaml"))
MANIFESTS = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
KUBERNETES_VERSIONS = ("1.31", kubernetes_validate.latest_version())


def documents(path: Path) -> list[dict[str, Any]]:
    return [found for found in yaml.safe_load_all(path.read_text()) if found]


def check_command(words: list[str]) -> None:
    """Let the command parse its arguments; nothing is started."""
    assert words[0] in COMMANDS, words
    command = main.get_command(click.Context(main), words[0])
    assert command is not None
    command.make_context(words[0], words[1:])


def commands_of(node: Any) -> list[list[str]]:
    """Return the arguments of every container that runs our image."""
    if isinstance(node, list):
        return [found for item in node for found in commands_of(item)]
    if not isinstance(node, dict):
        return []
    ours = node.get("image") == "agentscope-rag" or "deploy/Dockerfile" in str(node.get("build"))
    own = (
        [node.get("args") or node["command"]]
        if ours and ("args" in node or "command" in node)
        else []
    )
    return own + [found for item in node.values() for found in commands_of(item)]


@pytest.mark.parametrize("path", COMPOSE, ids=lambda path: path.name)
def test_compose_files_fit_together(path: Path) -> None:
    """Services depend on services, use declared volumes, and run commands that exist."""
    [parsed] = documents(path)
    services, volumes = parsed["services"], parsed["volumes"]
    found = commands_of(services)
    assert found
    for words in found:
        check_command(words)
    for name, service in services.items():
        assert "image" in service or "build" in service, name
        assert set(service.get("depends_on", ())) <= set(services)
        for volume in service.get("volumes", ()):
            assert volume.partition(":")[0] in volumes
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))


def test_compose_healthchecks_exist_where_they_are_waited_for() -> None:
    """A dependency on health without a check would wait for ever."""
    for path in COMPOSE:
        services = documents(path)[0]["services"]
        for service in services.values():
            needs = service.get("depends_on", {})
            for name, how in needs.items() if isinstance(needs, dict) else ():
                if how["condition"] == "service_healthy":
                    assert "healthcheck" in services[name]


def test_kustomization_names_every_manifest() -> None:
    """And no other."""
    [parsed] = documents(DEPLOY / "kubernetes/kustomization.yaml")
    named = sorted(parsed["resources"])
    assert named == [path.name for path in MANIFESTS if path.name != "kustomization.yaml"]


@pytest.mark.parametrize("version", KUBERNETES_VERSIONS)
def test_kubernetes_manifests_fit_their_schemas(version: str) -> None:
    """Strictly: an unknown field is an error."""
    count = 0
    for path in MANIFESTS:
        for document in documents(path):
            if document["kind"] != "Kustomization":
                kubernetes_validate.validate(document, version, strict=True)
                count += 1
    assert count >= 5


def test_kubernetes_objects_find_each_other() -> None:
    """Selectors match labels, scalers name a deployment, probes name a port."""
    objects = [found for path in MANIFESTS for found in documents(path)]
    deployments = {one["metadata"]["name"]: one for one in objects if one["kind"] == "Deployment"}
    for deployment in deployments.values():
        template = deployment["spec"]["template"]
        labels = template["metadata"]["labels"]
        assert deployment["spec"]["selector"]["matchLabels"].items() <= labels.items()
        volumes = {volume["name"] for volume in template["spec"]["volumes"]}
        for container in template["spec"]["containers"]:
            check_command(container["args"])
            assert {mount["name"] for mount in container["volumeMounts"]} <= volumes
    every = [one["spec"]["template"]["metadata"]["labels"] for one in deployments.values()]
    for one in objects:
        selector = one.get("spec", {}).get("selector", {})
        wanted = selector.get("matchLabels", selector)
        assert any(wanted.items() <= labels.items() for labels in every)
        if one["kind"] == "HorizontalPodAutoscaler":
            assert one["spec"]["scaleTargetRef"]["name"] in deployments


def test_the_scaler_by_queue_depth_names_things_that_exist() -> None:
    """Its kind has no schema here, so its own words are checked: target, metrics, the patch."""
    folder = DEPLOY / "kubernetes/queue-depth"
    [scaler] = documents(folder / "scaledobject.yaml")
    objects = [found for path in MANIFESTS for found in documents(path)]
    names = {one["metadata"]["name"] for one in objects if "metadata" in one}
    assert scaler["spec"]["scaleTargetRef"]["name"] in names
    known = {family.name for family in observe.families()}
    for trigger in scaler["spec"]["triggers"]:
        query = trigger["metadata"]["query"]
        assert set(re.findall(r"\brag_\w+", query)) <= known, query
        assert float(trigger["metadata"]["threshold"]) > 0
    [overlay] = documents(folder / "kustomization.yaml")
    for resource in overlay["resources"]:
        assert (folder / resource).exists()
    for patch in overlay["patches"]:
        assert patch["target"]["name"] in names


def test_units_run_commands_that_exist() -> None:
    """Under systemd, both stop within the time that draining takes."""
    assert len(UNITS) == 2
    for path in UNITS:
        text = path.read_text()
        [line] = re.findall(r"^ExecStart=(.*)$", text, re.MULTILINE)
        program, *words = shlex.split(line)
        assert program.endswith("/agentscope-rag")
        check_command(words)
        assert "Environment=DATA_DIR=/var/lib/agentscope-rag" in text  # the home is protected
        assert "StateDirectory=agentscope-rag" in text


def test_every_setting_that_is_named_exists() -> None:
    """In deploy/ and in the how-to pages."""
    known = {PREFIX + field.name.upper() for field in dataclasses.fields(Settings)}
    known |= {*ALIASES.values(), f"{PREFIX}WORKER_BOOTSTRAP"}
    pages = [path for path in DEPLOY.rglob("*") if path.is_file()]
    pages += (DEPLOY.parent / "docs/how-to").glob("*.md")
    for path in pages:
        for name in re.findall(r"\bAGENTSCOPE_[A-Z_]+\b", path.read_text()):
            assert name in known, f"{path.name}: {name}"


def test_the_image_is_built_from_files_that_exist() -> None:
    """With extras that exist."""
    text = (DEPLOY / "Dockerfile").read_text()
    for line in re.findall(r"^COPY (?!--from)(.*)$", text, re.MULTILINE):
        for name in line.split()[:-1]:
            assert (DEPLOY.parent / name).exists(), name
    [extras] = re.findall(r"'\.\[([\w,-]+)\]'", text)
    declared = (DEPLOY.parent / "pyproject.toml").read_text()
    for extra in extras.split(","):
        assert re.search(rf"^{extra} = \[", declared, re.MULTILINE), extra
