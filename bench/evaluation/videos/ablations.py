"""Settings of a method and of its index that an ablation changes, by name: `ABLATE=depth=1,views=event+entity`.

Names are those of the settings of the engine, with these shorter ones of the papers:

    depth, samples, lambda      max_depth, n, trade_off of the tree search (AVA, sections 5.2 and 5.3)
    ca=on|off                   the look at frames (action CA)
    support=on|off              judged choices; off leaves the decision to the tree's votes
    views=event+entity+frame    views of the retrieval that are asked, of event, entity, frame, transcript, graph, words
    merge=0.65                  minimum score of two chunks of one event (AVA, section 4.2)
    linking=on|off              whether mentions of events become one entity (AVA, section 4.3)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, get_args

from gpu_workers.engine.answering.catalogue import METHOD_SETTINGS
from gpu_workers.engine.answering.presets import SearchSettings, changed, own_settings
from gpu_workers.engine.indexing.assembly import AssemblySettings
from gpu_workers.engine.indexing.linking import LinkingSettings
from gpu_workers.engine.retrieval.fusion import FUSIONS
from gpu_workers.engine.retrieval.tri_view import RetrievalSettings

View = Literal["event", "entity", "frame", "transcript", "graph", "words"]
VIEWS: tuple[View, ...] = get_args(View)

_SHORT = {"depth": "max_depth", "samples": "n", "lambda": "trade_off"}
_VIEW_FIELDS: Mapping[View, str] = {
    "event": "events", "entity": "entities", "frame": "frames", "transcript": "transcript", "graph": "graph_events",
    "words": "words",
}  # fmt: skip
_NEVER = 1.01
"""Threshold above every cosine."""
_GROUPS = ("tree", "samples", "look", "support", "prompt")
_INDEX = frozenset({"merge", "linking"})


class UnknownSetting(ValueError):
    """There is no such setting, or it does not take this value."""


@dataclass(frozen=True, slots=True)
class Ablation:
    """Changed settings by name, as they were given."""

    values: tuple[tuple[str, str], ...] = ()

    @classmethod
    def read(cls, text: str) -> Ablation:
        """Read "name=value,name=value". Raises UnknownSetting."""
        pairs = [part.partition("=") for part in text.split(",") if part.strip()]
        if wrong := [name for name, sign, value in pairs if not (name.strip() and sign and value.strip())]:
            raise UnknownSetting(f"write name=value, not {', '.join(wrong)}")
        return cls(tuple((name.strip(), value.strip()) for name, _, value in pairs))

    @property
    def label(self) -> str:
        return ",".join(f"{name}={value}" for name, value in self.values)

    @property
    def index(self) -> AssemblySettings | None:
        """Return how events are made; None for the product's way. Raises UnknownSetting."""
        asked = dict(self.values)
        if not _INDEX & asked.keys():
            return None
        linking = LinkingSettings() if _value("linking", asked.get("linking", "on"), True) else _unlinked()
        threshold = _value("merge", asked["merge"], 0.0) if "merge" in asked else None
        return AssemblySettings(threshold=threshold, linking=linking)

    def search(self, settings: SearchSettings, method: str) -> SearchSettings:
        """Return settings of a method with the changes. Raises UnknownSetting."""
        for name, value in self.values:
            if name not in _INDEX:
                settings = _with(settings, method, name, value)
        return settings


def _with(settings: SearchSettings, method: str, name: str, text: str) -> SearchSettings:
    if name == "views":
        return replace(settings, retrieval=_of_views(settings.retrieval, text))
    if name == "ca":
        rule = settings.look.check if settings.look.check != "off" else "on_disagreement"
        return changed(settings, check=rule if _value(name, text, True) else "off")
    if name == "support":
        return settings if _value(name, text, True) else changed(settings, weight=0.0, judge_tokens=0)
    if method in METHOD_SETTINGS:
        own = own_settings(settings, METHOD_SETTINGS[method])
        if name in _names(own):
            return replace(settings, own=replace(own, **{name: _value(name, text, getattr(own, name))}))
    if name == "fusion":
        if text not in FUSIONS:
            raise UnknownSetting(f"no fusion {text!r}; there are {', '.join(FUSIONS)}")
        return replace(settings, retrieval=replace(settings.retrieval, fusion=text))
    if name in _names(settings.retrieval):
        value = _value(name, text, getattr(settings.retrieval, name))
        return replace(settings, retrieval=replace(settings.retrieval, **{name: value}))
    long = _SHORT.get(name, name)
    for group in _GROUPS:
        if long in _names(found := getattr(settings, group)):
            return changed(settings, **{long: _value(name, text, getattr(found, long))})
    raise UnknownSetting(f"{method} has no setting {name!r}; docs/lab/video-benchmarks.md lists them")


def _of_views(retrieval: RetrievalSettings, text: str) -> RetrievalSettings:
    named = set(text.split("+"))
    if unknown := sorted(named - set(VIEWS)):
        raise UnknownSetting(f"no view {', '.join(unknown)}; there are {', '.join(VIEWS)}")
    usual = RetrievalSettings()
    counts: dict[str, Any] = {
        field: (getattr(retrieval, field) or getattr(usual, field)) if view in named else 0
        for view, field in _VIEW_FIELDS.items()
    }
    return replace(retrieval, **counts)


def _names(settings: Any) -> frozenset[str]:
    """Return the fields of a dataclass that are a number or a switch."""
    simple = (bool, int, float, type(None))
    return frozenset(field.name for field in fields(settings) if isinstance(getattr(settings, field.name), simple))


def _value(name: str, text: str, now: Any) -> Any:
    """Return a value of the type that the setting has now."""
    if isinstance(now, bool):
        if text not in ("on", "off"):
            raise UnknownSetting(f"{name} is on or off, not {text!r}")
        return text == "on"
    if text == "none" and (now is None or name == "level_width"):
        return None
    try:
        return float(text) if isinstance(now, float) else int(text)
    except ValueError as error:
        raise UnknownSetting(f"{name} is a number, not {text!r}") from error


def _unlinked() -> LinkingSettings:
    return LinkingSettings(tau=_NEVER, tau_by_type={}, tau_across_types=_NEVER, tau_named=_NEVER)
