"""What other repositories take from this one: the composite action, the hook; and the workflow used here."""

from __future__ import annotations

import copy
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests/generator"))

import sample_record  # noqa: E402

ACTION = ROOT / "action.yml"
WORKFLOW = ROOT / ".github/workflows/site.yml"
HOOKS = ROOT / ".pre-commit-hooks.yaml"
Tree = dict[str, Any]


def read(file: Path) -> Tree:
    loaded: Tree = yaml.load(file.read_text("utf-8"), yaml.BaseLoader)  # `on` is a key, not a truth value
    return loaded


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.org")
    command = ["git", *identity, "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def tool(*arguments: str, cwd: Path = ROOT, env: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Exit code and output of a program of this environment."""
    command = [str(Path(sys.executable).parent / arguments[0]), *arguments[1:]]
    done = subprocess.run(command, cwd=cwd, env=env, check=False, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


VALIDATORS = {
    ACTION: ("check-jsonschema", "--builtin-schema", "vendor.github-actions"),
    WORKFLOW: ("check-jsonschema", "--builtin-schema", "vendor.github-workflows"),
    HOOKS: ("pre-commit", "validate-manifest"),
}
BROKEN = {
    ACTION: ("using: composite", "using: magic"),
    WORKFLOW: ("runs-on:", "runs:"),
    HOOKS: ("entry:", "enter:"),
}


@pytest.mark.parametrize("file", VALIDATORS, ids=lambda file: file.name)
def test_each_file_passes_its_public_schema_and_a_broken_one_does_not(file: Path, tmp_path: Path) -> None:
    assert tool(*VALIDATORS[file], str(file))[0] == 0
    broken = tmp_path / file.name
    broken.write_text(file.read_text("utf-8").replace(*BROKEN[file]), "utf-8")
    assert tool(*VALIDATORS[file], str(broken))[0] == 1


# What is published


def unverified(workflow: Tree, action: Tree) -> Iterator[str]:
    """Ways in which pages could be published that `findings verify` did not pass."""
    jobs = workflow["jobs"]
    steps = action["runs"]["steps"]
    verified = [step for step in steps if " verify " in step["run"]]
    if len(verified) != 1 or "site=" not in verified[0]["run"].partition(" verify ")[2]:
        yield "the action names a site that it has not verified"
    elif action["outputs"]["site"]["value"] != f"${{{{ steps.{verified[0]['id']}.outputs.site }}}}":
        yield "the action's output is not what the verifying step wrote"
    for name, job in jobs.items():
        used = [step.get("uses", "").partition("@")[0] for step in job["steps"]]
        if "actions/upload-pages-artifact" in used:
            upload = job["steps"][used.index("actions/upload-pages-artifact")]
            before = job["steps"][: used.index("actions/upload-pages-artifact")]
            passed = [step["id"] for step in before if step.get("uses") == "./" and "if" not in step]
            if upload["with"]["path"] not in [f"${{{{ steps.{each}.outputs.site }}}}" for each in passed]:
                yield f"{name} keeps pages that the action did not pass"
            if any("continue-on-error" in step for step in [job, *job["steps"]]):
                yield f"{name} goes on after a failure"
        if "actions/deploy-pages" in used and not {"verify", "test"} <= set(job.get("needs", ())):
            yield f"{name} publishes without waiting for the gate and the tests"


def test_only_pages_that_the_audit_passed_are_published() -> None:
    assert list(unverified(read(WORKFLOW), read(ACTION))) == []


def _without_needs(workflow: Tree, action: Tree) -> None:
    workflow["jobs"]["deploy"]["needs"] = ["test"]


def _other_folder(workflow: Tree, action: Tree) -> None:
    workflow["jobs"]["verify"]["steps"][-1]["with"]["path"] = "site"


def _kept_first(workflow: Tree, action: Tree) -> None:
    workflow["jobs"]["verify"]["steps"].insert(0, workflow["jobs"]["verify"]["steps"].pop())


def _going_on(workflow: Tree, action: Tree) -> None:
    workflow["jobs"]["verify"]["steps"][2]["continue-on-error"] = "true"


def _named_early(workflow: Tree, action: Tree) -> None:
    verify = action["runs"]["steps"][-1]
    verify["run"] = "\n".join(reversed(verify["run"].splitlines()))


@pytest.mark.parametrize("plant", [_without_needs, _other_folder, _kept_first, _going_on, _named_early])
def test_a_way_around_the_audit_is_noticed(plant: Any) -> None:
    workflow, action = copy.deepcopy(read(WORKFLOW)), copy.deepcopy(read(ACTION))
    plant(workflow, action)
    assert list(unverified(workflow, action))


def test_the_deployment_alone_may_write_pages_and_only_from_main() -> None:
    workflow = read(WORKFLOW)
    assert workflow["permissions"] == {"contents": "read"}
    assert [name for name, job in workflow["jobs"].items() if "permissions" in job] == ["deploy"]
    assert "github.ref == 'refs/heads/main'" in workflow["jobs"]["deploy"]["if"]


def test_every_input_of_the_action_is_described_and_none_is_pasted_into_a_script() -> None:
    action = read(ACTION)
    assert all(each["description"] for each in (*action["inputs"].values(), *action["outputs"].values()))
    assert not any("${{" in step["run"] for step in action["runs"]["steps"])


# The action's steps, run as the runner runs them


@dataclass
class Runner:
    """Runs the steps of the composite action in a checkout."""

    checkout: Path
    temporary: Path
    action: Path
    inputs: dict[str, str] = field(default_factory=dict)
    said: str = ""

    def __post_init__(self) -> None:
        defaults = {name: each["default"] for name, each in read(ACTION)["inputs"].items()}
        self.inputs = {**defaults, **self.inputs}
        self.files = {name: self.checkout.parent / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for file in self.files.values():
            file.touch()

    def run(self, *, but: tuple[str, ...] = ()) -> tuple[str, int]:
        """The name and the exit code of the step that failed, or of the last one."""
        for step in read(ACTION)["runs"]["steps"]:
            if step["name"] not in but and (code := self.step(step)):
                break
        return step["name"], code

    def step(self, step: Tree) -> int:
        environment = {
            key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "GITHUB_"))
        }
        environment |= {
            "CI": "true",
            "RUNNER_TEMP": str(self.temporary),
            "GITHUB_ACTION_PATH": str(self.action),
            **{name: str(file) for name, file in self.files.items()},
            **{name: self._filled(value) for name, value in step.get("env", {}).items()},
        }
        folder = self.checkout / self._filled(step.get("working-directory", "."))
        command = ["bash", "--noprofile", "--norc", "-euo", "pipefail", "-c", step["run"]]
        done = subprocess.run(
            command, cwd=folder, env=environment, check=False, capture_output=True, text=True
        )
        self.said += done.stdout + done.stderr
        return done.returncode

    def _filled(self, value: str) -> str:
        return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda match: self.inputs[match[1]], value)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the action ships in action/, and the generator installed from it by its own step."""
    folder = tmp_path_factory.mktemp("runner")
    parts = ("generator", "engine", "pyproject.toml", "constraints.txt", "locks", "README.md", "LICENSE")
    listed = git(ROOT, "ls-files", "-co", "--exclude-standard", "-z", "--", *parts)
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            target = folder / "action" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, target)
    steps = {step["name"]: step for step in read(ACTION)["runs"]["steps"]}
    (folder / "checkout").mkdir()
    runner = Runner(folder / "checkout", folder, folder / "action")
    assert runner.step(steps["Install the generator"]) == 0, runner.said
    return folder


def checkout(
    folder: Path, installed: Path, changes: dict[str, str | bytes | None], root: str = "."
) -> Runner:
    """A shallow clone of a repository with a record, and a runner in it."""
    origin = folder / "origin"
    origin.mkdir()
    git(origin, "init", "-q", "-b", "main")
    sample_record.write(origin / root)
    git(origin, "add", ".")
    git(origin, "commit", "-q", "-m", "The record")
    if changes.pop("register", None):
        tool("findings", "register", "K-1", "--root", str(origin / root))
    sample_record.write(origin / root, changes)
    git(origin, "add", ".")
    git(origin, "commit", "-q", "--allow-empty", "-m", "A change")
    git(folder, "clone", "-q", "--depth", "1", f"file://{origin}", "checkout")
    assert git(folder / "checkout", "rev-parse", "--is-shallow-repository").strip() == "true"
    return Runner(folder / "checkout", installed, installed / "action", {"root": root})


LATER = ("Install the generator",)


def test_the_action_passes_a_clean_record_and_names_the_site_that_it_verified(
    tmp_path: Path, installed: Path
) -> None:
    runner = checkout(tmp_path, installed, {"register": "K-1"})
    assert runner.run(but=LATER) == ("Verify the finished pages", 0), runner.said
    site = runner.checkout / "site"
    assert runner.files["GITHUB_OUTPUT"].read_text() == f"site={site}\n"
    assert (site / "findings/F-01.html").is_file()
    assert git(runner.checkout, "rev-parse", "--is-shallow-repository").strip() == "false"
    assert runner.files["GITHUB_STEP_SUMMARY"].read_text().count("### 0 refusals") == 2


def test_the_action_fails_on_a_planted_digit_at_its_place_and_builds_nothing(
    tmp_path: Path, installed: Path
) -> None:
    planted = sample_record.FINDING.replace("A check emits", "A check 7 emits")
    runner = checkout(tmp_path, installed, {"findings/F-01.md": planted}, "docs/record")
    assert runner.run(but=LATER) == ("Check the sources", 1), runner.said
    assert "::error file=docs/record/findings/F-01.md,line=15,col=33,title=untraced-number::" in runner.said
    assert "untraced-number" in runner.files["GITHUB_STEP_SUMMARY"].read_text()
    assert runner.files["GITHUB_OUTPUT"].read_text() == ""
    assert not (runner.checkout / "docs/record/site").exists()


def test_without_the_whole_history_a_record_with_registered_texts_does_not_pass(
    tmp_path: Path, installed: Path
) -> None:
    runner = checkout(tmp_path, installed, {"register": "K-1"})
    assert runner.run(but=(*LATER, "Complete the history")) == ("Check the sources", 1), runner.said
    assert "title=history-missing::" in runner.said


def test_the_base_is_handed_to_the_check_as_one_word(tmp_path: Path, installed: Path) -> None:
    runner = checkout(tmp_path, installed, {})
    runner.inputs["base"] = "no such; touch planted"
    assert runner.run(but=LATER) == ("Check the sources", 2), runner.said
    assert "git knows no revision no such; touch planted" in runner.said
    assert not (runner.checkout / "planted").exists()


# The hook, run by pre-commit itself


HOOKED: dict[str, tuple[dict[str, str | bytes | None], int, str]] = {
    "a clean record": ({"notes.txt": "words"}, 0, "Passed"),
    "a digit": (
        {"findings/F-01.md": sample_record.FINDING.replace("A check emits", "A check 7 emits")},
        1,
        "findings/F-01.md:15:33: untraced-number",
    ),
    "a payload deleted and nothing else": (
        {"payloads/acceptance/lookup.json": None},
        1,
        "findings/F-01.md:12:6: bad-payload",
    ),
}


@pytest.mark.parametrize("name", HOOKED)
def test_the_hook_judges_the_whole_record_once_whatever_a_commit_touches(tmp_path: Path, name: str) -> None:
    """The manifest's own hook, but for its language: the environment that it would make is this one."""
    changes, code, expected = HOOKED[name]
    root = sample_record.write(tmp_path / "record")
    hook = {**yaml.safe_load(HOOKS.read_text("utf-8"))[0], "language": "system", "verbose": True}
    config = {"repos": [{"repo": "local", "hooks": [hook]}]}
    (root / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config), "utf-8")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "The record")
    for path in [path for path, content in changes.items() if content is None]:
        (root / path).unlink()
    for path, content in changes.items():
        if isinstance(content, str):
            (root / path).write_text(content, "utf-8")
    git(root, "add", "-A")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    environment["PRE_COMMIT_HOME"] = str(tmp_path / "cache")
    done = tool("pre-commit", "run", "findings-check", cwd=root, env=environment)
    assert (done[0], done[1].count(expected)) == (code, 1), done[1]
