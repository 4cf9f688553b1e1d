#!/usr/bin/python3
"""Published claims about Trainium beside what trnsim says: a table of claim, simulated, verdict.

  scripts/claims.py                          all of scenarios/claims/claims.json
  scripts/claims.py --markdown docs/claims.md   the same, put into the page between its marks

Every figure is simulated three times: as stated, and with the claim's assumed numbers all at the end that is worse for
the claim's system and better for what it is compared with, and the other way round. Verdicts: "agrees", if the stated figure is as
claimed; "possible", if only the interval reaches the claim; "not so" otherwise. Exit code: 0 done, 2 the input is wrong.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from sweeping import ROOT, UserError, exit_as  # noqa: E402
from sweeping.definition import Point  # noqa: E402
from sweeping.export import write_whole  # noqa: E402
from sweeping.expression import evaluate  # noqa: E402
from sweeping.inputs import inputs_of, named  # noqa: E402
from sweeping.point import run  # noqa: E402
from sweeping.store import metrics_of  # noqa: E402

PREFIXES = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18, "m": 1e-3, "u": 1e-6, "n": 1e-9}
BEGIN, END = "<!-- claims -->", "<!-- end of claims -->"


def identifier(name):
    return re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")


def quantity(value):
    """SI value of "4.9 TB/s"; None of what is no quantity. Only ratios of equal units are made of them."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    match = re.fullmatch(r"([0-9.]+) ?([kMGTPEmun]?)(B/s|Gb/s|s|W|FLOP/s|B|USD/h)", value) if isinstance(value, str) else None
    return float(match[1]) * PREFIXES[match[2]] if match else None


def numbers(value, name):
    """{"system_chip_hbm_bandwidth": 4.9e12, ...}: every number of a resolved system."""
    found = {}
    if isinstance(value, dict) and "value" in value:
        value = value["value"]
    if isinstance(value, dict):
        for key, item in value.items():
            found |= numbers(item, f"{name}_{identifier(key)}")
    elif isinstance(value, list):
        for number, item in enumerate(value):
            found |= numbers(item, f"{name}_{number}")
    elif (read := quantity(value)) is not None:
        found[name] = read
    return found


def who(number):
    return "own" if number == 0 else "other" if number == 1 else f"other{number}"


class Runs:
    """Runs of trnsim, each once however often it is asked for."""

    def __init__(self, trnsim):
        self.trnsim, self.known = trnsim, {}

    def ask(self, jobs):
        """Makes all results of (command, is_topology) known, on all cores."""
        wanted = [job for job in dict.fromkeys(jobs) if job not in self.known]
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            for job, outcome in zip(wanted, pool.map(lambda job: run("", [self.trnsim, *job], str(ROOT)), wanted)):
                if outcome["exit_code"] != 0:
                    raise UserError(f"{' '.join(job)}: {outcome['stderr'].strip()}")
                self.known[job] = json.loads(outcome["stdout"])


def command(claim, scenario, settings):
    if claim.get("topology"):
        inputs = inputs_of(scenario, settings)
        system = [path for path in inputs.files if path.startswith("topologies/") and path.count("/") == 1][0]
        sets = [f"{path.removeprefix('system.')}={json.dumps(value)}" for path, value in settings.items()]
        return ("topology", system, "--units", str(inputs.units()), "--json", *(part for one in sets for part in ("--set", one)))
    return tuple(Point({}, scenario, settings, None, "").arguments())


def cases(claim, common, scenario):
    """{"stated" | "worse" | "better": settings}."""
    up, down = claim.get("up", common["up"]), claim.get("down", common["down"])
    inputs = inputs_of(scenario, {})
    made = {"stated": {}}
    for case, own_end, other_end in (("worse", "low", "high"), ("better", "high", "low")):
        settings = inputs.ends_of(up, own_end) | inputs.ends_of(down, other_end)
        for number in range(len(inputs.scenario.get("compare_with", []))):
            root = f"compare_with.{number}"
            settings |= inputs.ends_of(up, other_end, root) | inputs.ends_of(down, own_end, root)
        made[case] = settings
    return made


def names_of(claim, scenario, settings, runs):
    """All names that figures may use, of one case."""
    names = {}
    inputs = inputs_of(scenario, settings)
    systems = [inputs.scenario["system"], *inputs.scenario.get("compare_with", [])]
    for number, system in enumerate(systems):
        names |= numbers(system, f"{who(number)}_system")
    if claim.get("topology"):
        return names | numbers(runs.known[command(claim, scenario, settings)], "own")
    for prefix, more in ({"": {}} | claim.get("variants", {})).items():
        for number, name, value in metrics_of(runs.known[command(claim, scenario, settings | more)]):
            names[f"{prefix or who(number)}_{identifier(name)}"] = value
    return names


def verdict(figure, low, high, claimed):
    if claimed[0] <= figure <= claimed[1]:
        return "agrees"
    return "possible" if low <= claimed[1] and high >= claimed[0] else "not so"


def shown(value):
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def rows_of(claims, runs, where):
    """(claim, figure, claimed, stated, low, high, verdict)."""
    asked, plans = [], []
    for claim in claims["claims"]:
        scenario = named(ROOT / "scenarios/claims" / claim["scenario"])
        made = cases(claim, claims, scenario)
        plans.append((claim, scenario, made))
        for settings in made.values():
            for more in ({"": {}} | claim.get("variants", {})).values():
                asked.append(command(claim, scenario, settings | more))
    runs.ask(asked)
    for claim, scenario, made in plans:
        names = {case: names_of(claim, scenario, settings, runs) for case, settings in made.items()}
        for figure in claim["figures"]:
            values = [evaluate(figure["value"], names[case], f"{where}: {claim['id']}") for case in made]
            low, high = min(values), max(values)
            yield claim, figure, values[0], low, high, verdict(values[0], low, high, figure["claimed"])


def text_of(rows):
    last, lines = None, []
    for claim, figure, stated, low, high, word in rows:
        if claim is not last:
            lines.append(f"\n{claim['id']}\n  {claim['source']}\n  {claim['says']}")
        last = claim
        interval = "" if high - low <= 1e-9 * abs(high) else f" ({shown(low)} to {shown(high)})"
        lines.append(f"    {word:9} {figure['what']}: {shown(stated)}{interval}; claimed {wanted(figure)}")
    return "\n".join(lines).lstrip("\n") + "\n"


def wanted(figure):
    low, high = figure["claimed"]
    return f"below {shown(high)}" if low == 0 else f"{shown(low)} to {shown(high)}"


def markdown_of(rows):
    lines = ["| claim | figure | claimed | simulated | interval | verdict |", "|---|---|---|---|---|---|"]
    notes, last = [], None
    for claim, figure, stated, low, high, word in rows:
        first = "" if claim is last else claim["id"]
        if claim is not last:
            notes.append(f"- **{claim['id']}** ({claim['source']}; `scenarios/claims/{claim['scenario']}`). {claim['says']}")
        last = claim
        interval = "-" if high - low <= 1e-9 * abs(high) else f"{shown(low)} to {shown(high)}"
        lines.append(f"| {first} | {figure['what']} | {wanted(figure)} | {shown(stated)} | {interval} | {word} |")
    return "\n".join(lines) + "\n\n" + "\n".join(notes) + "\n"


def check(claims, file):
    """That every claim has what is needed. Raises UserError."""
    if not isinstance(claims, dict) or claims.get("format") != "trnsim.claims.v1":
        raise UserError(f'{file}: format: must be "trnsim.claims.v1"')
    for key in ("up", "down", "claims"):
        if not isinstance(claims.get(key), list):
            raise UserError(f"{file}: {key}: must be a list")
    for number, claim in enumerate(claims["claims"]):
        for key in ("id", "scenario", "source", "says", "figures"):
            if key not in claim:
                raise UserError(f"{file}: claims.{number}.{key}: is missing")
        for place, figure in enumerate(claim["figures"]):
            for key in ("what", "value", "claimed"):
                if key not in figure:
                    raise UserError(f"{file}: claims.{number}.figures.{place}.{key}: is missing")
        if not (ROOT / "scenarios/claims" / claim["scenario"]).is_file():
            raise UserError(f"{file}: claims.{number}.scenario: there is no scenarios/claims/{claim['scenario']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--claims", type=pathlib.Path, default=ROOT / "scenarios/claims/claims.json")
    parser.add_argument("--only", help="claims whose name has this text")
    parser.add_argument("--markdown", type=pathlib.Path, help="a page with the marks between which the table goes")
    parser.add_argument("--trnsim", default=str(ROOT / "build/release/trnsim"), help="the program to run")
    options = parser.parse_args()
    try:
        claims = json.loads(options.claims.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UserError(f"{options.claims}: cannot be read: {error}") from None
    check(claims, options.claims)
    if options.only:
        claims["claims"] = [claim for claim in claims["claims"] if options.only in claim["id"]]
    rows = list(rows_of(claims, Runs(named(options.trnsim)), options.claims))
    print(text_of(rows), end="")
    if options.markdown:
        page = options.markdown.read_text(encoding="utf-8")
        if BEGIN not in page or END not in page:
            raise UserError(f"{options.markdown}: has no {BEGIN} and {END}")
        head, tail = page.split(BEGIN)[0], page.split(END)[1]
        write_whole(options.markdown, f"{head}{BEGIN}\n{markdown_of(rows)}{END}{tail}")


if __name__ == "__main__":
    exit_as(main)
