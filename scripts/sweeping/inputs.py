"""What a point reads: the files that its scenario names, by hash, and the program, by version and hash."""

import functools
import hashlib
import json
import os
import pathlib
import subprocess

from sweeping import ROOT, UserError


@functools.cache
def _read(path):
    """Object and hash of a JSON file. Of a file that cannot be read both are those of nothing: trnsim says why."""
    try:
        content = pathlib.Path(path).read_bytes()
    except OSError:
        return {}, "unreadable"
    try:
        value = json.loads(content)
    except ValueError:
        value = {}
    return value, hashlib.sha256(content).hexdigest()


def named(path):
    """The path as commands and the store name it: from the top of the checkout if it is in there."""
    path = pathlib.Path(os.path.abspath(path))
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def inputs_of(scenario, settings):
    """Inputs of a scenario, made once for all settings that name the same files and shape of a system."""
    decisive = {
        path: value
        for path, value in settings.items()
        if path.endswith(".file") or isinstance(value, (dict, list)) or path.startswith(("system.scale_up", "system.graph"))
    }
    return _inputs_of(scenario, json.dumps(decisive))


@functools.cache
def _inputs_of(scenario, settings):
    return Inputs(scenario, json.loads(settings))


class Inputs:
    """A scenario with its includes and settings resolved, as far as a sweep needs it."""

    def __init__(self, scenario, settings):
        self.files = {}
        value = self._file(ROOT / scenario)
        for path, setting in settings.items():
            if path.endswith(".file"):
                parent = _place(value, path.rsplit(".", 1)[0])
                if isinstance(parent, dict):
                    parent["file"] = str(ROOT / setting)
        value = self._resolve(value, (ROOT / scenario).parent)
        for path, setting in settings.items():
            if path.endswith(".file"):
                continue
            head, _, last = path.rpartition(".")
            parent = _place(value, head) if head else value
            if isinstance(parent, dict):
                parent[last] = self._resolve(setting, ROOT)
        self.scenario = value
        self.hash = self._hash()

    def _hash(self):
        """Of names and contents of all files."""
        listed = "".join(f"{name} {digest}\n" for name, digest in sorted(self.files.items()))
        return hashlib.sha256(listed.encode()).hexdigest()

    def chips_per_unit(self):
        system = self.scenario.get("system", {})
        try:
            if "graph" in system:
                chips = system["graph"]["chips"]
                return len(chips) if isinstance(chips, list) else int(chips)
            chips = 1
            for dimension in system["scale_up"]["dimensions"]:
                chips *= int(dimension["size"])
            return chips
        except (KeyError, TypeError, ValueError):
            return 1

    def units(self):
        units = self.scenario.get("system", {}).get("units", 1)
        return units if isinstance(units, int) else 1

    def price(self):
        """USD an hour of a chip, of the scenario's purchase; None where there is none."""
        try:
            price = self.scenario["system"]["prices"][self.scenario.get("purchase", "capacity_block")]
            return float(str(price["value"] if isinstance(price, dict) else price).split()[0])
        except (KeyError, TypeError, ValueError, IndexError):
            return None

    def ends_of(self, names, end, root="system"):
        """Settings that move every number of the system at `root` that is called so, and has a range, to its low or high end."""
        found = {}

        def search(value, path):
            for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
                here = f"{path}.{key}"
                if key in names and isinstance(item, dict) and isinstance(item.get("range"), list):
                    found[f"{here}.value"] = item["range"][end == "high"]
                else:
                    search(item, here)

        search(_place(self.scenario, root), root)
        return found

    def _file(self, path):
        value, self.files[named(path)] = _read(str(path))
        return json.loads(json.dumps(value))

    def _resolve(self, value, folder, depth=0):
        if isinstance(value, list):
            return [self._resolve(item, folder, depth) for item in value]
        if not isinstance(value, dict):
            return value
        if isinstance(value.get("file"), str) and depth < 17:
            path = pathlib.Path(os.path.normpath(folder / value["file"]))
            below = self._resolve(self._file(path), path.parent, depth + 1)
            return self._lay_over(below, {k: v for k, v in value.items() if k != "file"}, folder, depth)
        return {key: self._resolve(item, folder, depth) for key, item in value.items()}

    def _lay_over(self, below, above, folder, depth):
        if not isinstance(below, dict):
            return above
        for key, item in above.items():
            merge = isinstance(item, dict) and isinstance(below.get(key), dict) and not {"file", "value"} & item.keys()
            below[key] = self._lay_over(below[key], item, folder, depth) if merge else self._resolve(item, folder, depth)
        return below


def _place(value, path):
    """What stands at the path; objects on the way are made. None where it leads into something else."""
    for part in path.split("."):
        if isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, dict):
            value = value.setdefault(part, {})
        else:
            return None
    return value


def version_of(trnsim):
    """What `trnsim --version` says and the hash of the program, so that a rebuilt model counts as another version."""
    try:
        done = subprocess.run([trnsim, "--version"], capture_output=True, text=True, check=True)
        digest = hashlib.sha256(pathlib.Path(trnsim).read_bytes()).hexdigest()
    except (OSError, subprocess.CalledProcessError) as error:
        raise UserError(f"{trnsim}: cannot be run ({error}); build it (scripts/quickstart) or name it by --trnsim") from None
    return f"{done.stdout.strip()}, program {digest[:16]}"
