"""Sweep files: what they may say, and the points that follow."""

import dataclasses
import difflib
import hashlib
import itertools
import json
import os
import pathlib
import shlex

from sweeping import UserError
from sweeping.expression import evaluate
from sweeping.inputs import Inputs, inputs_of, named

_KEYS = {"format", "name", "note", "scenario", "set", "axes", "derive", "constraints"}
_MOST_POINTS = 10_000_000


@dataclasses.dataclass
class Step:
    """One place on an axis: what it is called there, and what it sets. `size` is ("chips" or "units", number), `let`
    has more names for expressions, `ends` is (names of numbers, which end of their ranges)."""

    coordinates: dict
    settings: dict
    size: tuple | None = None
    let: dict = dataclasses.field(default_factory=dict)
    ends: tuple | None = None


@dataclasses.dataclass
class Point:
    """One run: where it stands on the axes, and all that decides its result."""

    coordinates: dict
    scenario: str
    settings: dict
    inputs: Inputs
    version: str

    def key(self):
        """The same for two points exactly if scenario, settings, every file they read and trnsim are the same."""
        text = json.dumps([self.scenario, self.settings, self.inputs.hash, self.version], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def arguments(self):
        arguments = ["run", self.scenario, "--quiet", "--json"]
        for path, value in self.settings.items():
            arguments += ["--set", f"{path}={value if _is_bare(value) else json.dumps(value)}"]
        return arguments

    def command(self, trnsim):
        return shlex.join([trnsim, *self.arguments()])


def _is_bare(value):
    """Whether trnsim reads the text as the text itself, and not as JSON."""
    if not isinstance(value, str):
        return False
    try:
        json.loads(value)
    except ValueError:
        return True
    return False


class Sweep:
    """A sweep file. Raises UserError that names file and place."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        try:
            self.text = self.path.read_text(encoding="utf-8")
            root = json.loads(self.text)
        except OSError as error:
            raise UserError(f"{path}: cannot be read: {error.strerror}") from None
        except ValueError as error:
            raise UserError(f"{path}: is not valid JSON: {error}") from None
        if not isinstance(root, dict):
            raise UserError(f"{path}: must hold one JSON object")
        self._only(root, _KEYS, "")
        if root.get("format") != "trnsim.sweep.v1":
            raise UserError(f'{path}: format: must be "trnsim.sweep.v1"')
        self.name = self._typed(root, "name", str, "text", must=True)
        self.scenario = self._file(self._typed(root, "scenario", str, "the name of a file", must=True), "scenario")
        self.settings = self._settings(self._typed(root, "set", dict, "an object") or {}, "set")
        self.derive = self._typed(root, "derive", dict, "an object") or {}
        self.constraints = self._typed(root, "constraints", list, "a list") or []
        for where, texts in (("derive", self.derive.values()), ("constraints", self.constraints)):
            if not all(isinstance(text, str) for text in texts):
                self.fail(where, "must hold expressions, as text")
        axes = self._typed(root, "axes", list, "a list", must=True)
        self.axes = [self._axis(axis, f"axes.{number}") for number, axis in enumerate(axes)]
        names = [name for axis in self.axes for name in axis[0].coordinates]
        for name in names:
            if names.count(name) > 1:
                self.fail("axes", f'two axes have the name "{name}"; give one of them another "name"')

    def fail(self, where, what):
        raise UserError(f"{self.path}: {where}: {what}")

    def points(self, version):
        """(points, number left out by constraints), in the order of the axes, the last axis fastest."""
        count = 1
        for axis in self.axes:
            count *= len(axis)
        if count > _MOST_POINTS:
            self.fail("axes", f"make {count:,} points; at most {_MOST_POINTS:,} are allowed")
        points, left_out = [], 0
        for steps in itertools.product(*self.axes):
            point = self._point(steps, version)
            points += [point] if point else []
            left_out += point is None
        return points, left_out

    def _point(self, steps, version):
        settings = dict(self.settings)
        whole = self._merged(steps)
        settings |= whole.settings
        coordinates, size = whole.coordinates, whole.size
        inputs = inputs_of(self.scenario, settings)
        per_unit = inputs.chips_per_unit()
        if size:
            settings["system.units"] = size[1] if size[0] == "units" else max(1, size[1] // per_unit)
        units = settings.get("system.units", inputs.units())
        names = {name: value for name, value in coordinates.items() if name.isidentifier()}
        names |= whole.let | {"units": units, "chips_per_unit": per_unit, "chips": units * per_unit}
        if (price := inputs.price()) is not None:
            names["price"] = price
        for path, text in self.derive.items():
            settings[path] = evaluate(text, names, f"{self.path}: derive.{path}")
            if path == "system.units":
                units = settings[path]
                names |= {"units": units, "chips": units * per_unit}
        if whole.ends:
            settings |= inputs.ends_of(*whole.ends)
        for number, text in enumerate(self.constraints):
            if not evaluate(text, names, f"{self.path}: constraints.{number}"):
                return None
        if size or "system.units" in self.derive:
            coordinates |= {"units": units, "chips": units * per_unit}
        return Point(coordinates, self.scenario, settings, inputs, version)

    def _axis(self, axis, where):
        if not isinstance(axis, dict):
            self.fail(where, "must be an object")
        kinds = [kind for kind in ("set", "size", "variants", "ends", "zip") if kind in axis]
        if len(kinds) != 1:
            self.fail(where, 'must have one of "set", "size", "variants", "ends", "zip"')
        if kinds == ["zip"]:
            self._only(axis, {"zip", "note"}, where)
            parts = [self._axis(part, f"{where}.zip.{n}") for n, part in enumerate(self._list(axis, "zip", where))]
            if len({len(part) for part in parts}) != 1:
                self.fail(where, f"zips axes of {' and '.join(str(len(part)) for part in parts)} values")
            return [self._merged(steps) for steps in zip(*parts)]
        if kinds == ["variants"]:
            self._only(axis, {"name", "variants", "note"}, where)
            name = axis.get("name", "variant")
            return [
                self._variant(variant, name, f"{where}.variants.{n}")
                for n, variant in enumerate(self._list(axis, "variants", where))
            ]
        if kinds == ["ends"]:
            self._only(axis, {"name", "ends", "note"}, where)
            numbers, name = self._list(axis, "ends", where), axis.get("name", "ends")
            steps = [Step({name: end}, {}, ends=(tuple(map(str, numbers)), end)) for end in ("low", "high")]
            return [Step({name: "stated"}, {}), *steps]
        self._only(axis, {"set", "size", "name", "values", "range", "unit", "note"}, where)
        values = self._values(axis, where)
        if kinds == ["size"]:
            if axis["size"] not in ("chips", "units"):
                self.fail(f"{where}.size", 'must be "chips" or "units"')
            if not all(isinstance(value, int) and value > 0 for value in values):
                self.fail(where, "a size must be a whole number from 1")
            name = axis.get("name", "asked")
            return [Step({name: value}, {}, (axis["size"], value)) for value in values]
        path = axis["set"]
        if not isinstance(path, str) or not path:
            self.fail(f"{where}.set", "must be a path, as of --set")
        name, unit = axis.get("name", path), axis.get("unit")
        if unit:
            return [Step({name: value}, {path: f"{value} {unit}"}) for value in values]
        return [Step({name: self._label(value)}, self._settings({path: value}, where)) for value in values]

    def _variant(self, variant, name, where):
        if not isinstance(variant, dict) or not isinstance(variant.get("name"), str):
            self.fail(where, 'must be an object with a "name"')
        self._only(variant, {"name", "file", "set", "let", "note"}, where)
        settings = dict(variant.get("set", {}))
        if "file" in variant:
            settings = {"system.file": variant["file"]} | settings
        let = variant.get("let", {})
        if not isinstance(let, dict) or not all(isinstance(value, (int, float, str)) for value in let.values()):
            self.fail(f"{where}.let", "must be an object of numbers and texts")
        return Step({name: variant["name"]}, self._settings(settings, where), let=let)

    def _values(self, axis, where):
        if ("values" in axis) == ("range" in axis):
            self.fail(where, 'must have either "values" or "range"')
        if "values" in axis:
            return self._list(axis, "values", where)
        span = axis["range"]
        where += ".range"
        if not isinstance(span, dict) or ("step" in span) == ("factor" in span):
            self.fail(where, 'must have "from", "to" and either "step" or "factor"')
        self._only(span, {"from", "to", "step", "factor"}, where)
        numbers = [span.get(key) for key in ("from", "to", "step" if "step" in span else "factor")]
        if not all(isinstance(number, (int, float)) and not isinstance(number, bool) for number in numbers):
            self.fail(where, "must hold numbers")
        low, high, by = numbers
        if high < low or ("step" in span and by <= 0) or ("factor" in span and (by <= 1 or low <= 0)):
            self.fail(where, "must grow from a lower to a higher number")
        count = 0
        values = []
        while (value := low + count * by if "step" in span else low * by**count) <= high * (1 + 1e-12):
            values.append(value)
            count += 1
            if count > _MOST_POINTS:
                self.fail(where, f"has more than {_MOST_POINTS:,} values")
        return values

    def _settings(self, settings, where):
        """With the files that they name as commands name them; in the sweep they are relative to its file."""
        if not isinstance(settings, dict):
            self.fail(where, "must be an object of paths and values")
        return {path: self._named_files(value, path.split(".")[-1] == "file") for path, value in settings.items()}

    def _named_files(self, value, is_file=False):
        if isinstance(value, str):
            return self._file(value, "file") if is_file else value
        if isinstance(value, list):
            return [self._named_files(item) for item in value]
        if isinstance(value, dict):
            return {key: self._named_files(item, key == "file") for key, item in value.items()}
        return value

    def _file(self, name, where):
        path = os.path.normpath(self.path.resolve().parent / name)
        if not os.path.isfile(path):
            self.fail(where, f"there is no file {path}")
        return named(path)

    def _only(self, value, keys, where):
        for key in value.keys() - keys:
            close = difflib.get_close_matches(key, keys, 1)
            place = f"{where}.{key}" if where else key
            self.fail(place, "unknown key" + (f'; did you mean "{close[0]}"?' if close else ""))

    def _typed(self, root, key, kind, called, must=False):
        if key not in root and not must:
            return None
        if not isinstance(root.get(key), kind):
            self.fail(key, f"must be {called}")
        return root[key]

    def _list(self, value, key, where):
        if not isinstance(value[key], list) or not value[key]:
            self.fail(f"{where}.{key}", "must be a list of at least one")
        return value[key]

    @staticmethod
    def _label(value):
        return value if isinstance(value, (int, float, str)) and not isinstance(value, bool) else json.dumps(value)

    @staticmethod
    def _merged(steps):
        merged = Step({}, {}, let={})
        for step in steps:
            merged.coordinates |= step.coordinates
            merged.settings |= step.settings
            merged.size = step.size or merged.size
            merged.let |= step.let
            merged.ends = step.ends or merged.ends
        return merged
