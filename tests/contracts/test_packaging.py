import importlib
import importlib.metadata
import os
import tomllib
from pathlib import Path

import pytest

from tests.support.repository import PACKAGES, ROOT, files_of_tests, package_files

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.mark.parametrize("package", PACKAGES)
def test_package_is_the_one_of_this_repository(package: str) -> None:
    location = Path(importlib.import_module(package).__file__ or "").resolve()
    assert location == ROOT / package / "__init__.py", (
        f"'import {package}' finds {location}: another distribution with that package is installed here; "
        "use a virtual environment of your own (make test makes one)"
    )


def test_wheel_holds_exactly_the_five_packages() -> None:
    wheel = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert sorted(wheel["packages"]) == sorted(PACKAGES)


def test_console_script_is_installed() -> None:
    scripts = importlib.metadata.entry_points(group="console_scripts", name="npu-sim")
    assert [script.value for script in scripts] == ["runtime.cli.main:main"]


def test_every_folder_with_code_is_a_package() -> None:
    folders = {path.parent for path in [*package_files(), *files_of_tests()]}
    assert [folder for folder in sorted(folders) if not (folder / "__init__.py").exists()] == []


def test_test_folders_carry_no_code_in_their_init_files() -> None:
    inits = (ROOT / "tests").rglob("__init__.py")
    assert [path for path in sorted(inits) if path.read_text().strip()] == []


def test_continuous_integration_is_executable() -> None:
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_changelog_describes_this_version() -> None:
    assert f"## {PROJECT['project']['version']}" in (ROOT / "CHANGELOG.md").read_text()


def test_license_is_the_one_that_the_metadata_names() -> None:
    assert PROJECT["project"]["license"] == "Apache-2.0"
    assert "Apache License\n                           Version 2.0" in (ROOT / "LICENSE").read_text()
