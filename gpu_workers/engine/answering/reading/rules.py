"""The route, the shape and the statement of a question, by rules over its words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gpu_workers.engine.answering.reading.route_words import BY_LANGUAGE, COLOURS, THINGS, RouteWords
from gpu_workers.engine.answering.reading.times.stretch import without_stretch
from gpu_workers.engine.answering.understood import Route, Shape
from gpu_workers.engine.retrieval.object_names import named_things

STATEMENT_CHARACTERS = 200
"""Maximum length of a statement that is judged, and of the words for what is counted."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What rules read in a question. denied: whether it asks if the predicate is never true. always: whether it asks if
    it is true all the time. certain: False if its words may ask for more than the rules decided."""

    route: Route = "search"
    shape: Shape = "sentence"
    predicate: str = ""
    counted: str = ""
    denied: bool = False
    always: bool = False
    certain: bool = True


def read_question(question: str, *, language: str = "", time_words: str = "") -> Reading:
    """Return how a question wants to be answered.

    language: ISO 639-1 code of the question, "" if unknown. time_words: the part of it that names a time, which is
    already understood; a question with one that has no other content asks what happens then.
    """
    text = _bare(question, time_words)
    if not text:
        return Reading("time") if time_words else Reading()
    tables = _tables(language)
    for words in tables:
        if (reading := _read(text, words, timed=bool(time_words))) is not None:
            return reading
    shape: Shape = next((form for words in tables if (form := _form(text, words))), "sentence")
    return Reading(shape=shape, certain=not any(words.unsure.search(text) for words in tables))


def statement_in(question: str, *, language: str = "", time_words: str = "") -> str:
    """Return the words of a question as a statement to judge: without question words, or the whole question where no
    rule finds the statement."""
    text = _bare(question, time_words)
    tables = _tables(language)
    for words in tables:
        for pattern in (words.times, words.every, words.many, words.ever, words.always):
            if (match := pattern.search(text)) and (statement := _statement(match, words)):
                return statement
    return _cut(_ASKING.sub("", text, count=1).strip()) or _cut(text)


def without_time(question: str, *, time_words: str, remaining: str) -> str:
    """Return a question without the words that name a time: remaining, if it consists of the question's own words, else
    the question as it is, which read_question() takes time_words from."""
    return remaining if time_words and len(remaining.split()) > 1 and own_words(remaining, question) else question


def own_words(text: str, question: str) -> bool:
    """Whether every word of text is one of the question's."""
    return set(re.findall(r"\w+", text.casefold())) <= set(re.findall(r"\w+", question.casefold()))


def _tables(language: str) -> Sequence[RouteWords]:
    """Return all tables, that of the language first. A customer may ask in one language for an answer in another."""
    known = BY_LANGUAGE.get(language)
    others = [table for table in BY_LANGUAGE.values() if table is not known]
    return [known, *others] if known is not None else others


def _read(text: str, words: RouteWords, *, timed: bool) -> Reading | None:
    if words.happens.search(text):
        if timed:
            return Reading("time", "summary")
        # Without a time it may refer to what was said before, unless it names the recording.
        return Reading("whole", "summary") if words.summary.search(text) else None
    if (match := words.times.search(text)) and (statement := _statement(match, words)):
        return _DENYING if words.never.search(text) else Reading("scan", "count", statement)
    if match := words.always.search(text):
        return _always(match, words)
    told = any(pattern.search(text) for pattern in (words.summary, words.steps))
    tabled = words.table.search(text) is not None
    if not told and (match := words.every.search(words.table.sub(" ", text))):
        if words.never.search(text):
            return _DENYING
        statement = _statement(match, words)
        listed: Shape = "table" if tabled else "list"
        return Reading("scan", listed, statement) if statement else Reading("whole", listed)
    if match := words.many.search(text):
        return _many(match, words)
    wholes: Sequence[tuple[re.Pattern[str], Shape]] = (
        (words.steps, "steps"),
        (words.summary, "summary"),
        (words.topics, "list"),
        (words.changed, "steps"),
        (words.about, "summary"),
    )
    for pattern, shape in wholes:
        if pattern.search(text):
            return Reading("whole", "table" if tabled else shape)
    if match := words.all_of.search(words.table.sub(" ", text)):
        reading = _many(match, words)
        return reading and replace(reading, shape="table" if tabled else "list")
    if (match := words.ever.search(text)) and (statement := _statement(match, words)):
        if words.each_never.search(text):
            return _DENYING
        return Reading("scan", "sentence", statement, denied=bool(words.never.search(text)))
    return None


def _always(match: re.Match[str], words: RouteWords) -> Reading | None:
    if words.without.search(match["rest"]):
        # "Is the gate always without a guard?" Nothing says that of a statement.
        return _DENYING
    statement = _statement(match, words)
    return Reading("scan", "sentence", statement, always=True) if statement else None


def _many(match: re.Match[str], words: RouteWords) -> Reading | None:
    rest = _EACH_VIDEO.sub(" ", _TO_THE_READER.sub("", match["rest"])).strip()
    if words.parts.match(rest):
        return Reading("whole", "count")
    statement, sideways = _statement(match, words), SIDEWAYS.search(rest) is not None
    if words.without.search(rest) or (_PLACED_LEFT.search(rest) and not sideways):
        return _DENYING
    named, others = named_things(_in_english(words.everywhere.sub(" ", f"{_before(match)} {rest}")))
    left = [word for word in others if word not in _IDLE and not words.auxiliary.fullmatch(word)]
    if named and not left and not sideways:
        return Reading("objects", "count", statement, _cut(named))
    return Reading("scan", "count", statement, _cut(named)) if statement else None


def _form(text: str, words: RouteWords) -> Shape | None:
    if words.table.search(text):
        return "table"
    return "list" if words.listed.search(text) else None


def _statement(match: re.Match[str], words: RouteWords) -> str:
    """Return what remains to judge: the words before and after the question's words, without auxiliaries."""
    before = _before(match)
    rest = _EACH_VIDEO.sub(" ", _TO_THE_READER.sub("", match["rest"])).strip()
    if words.never.search(rest):
        rest = words.denial.sub(" ", rest)
    if match.re is words.always:
        rest = rest.replace(match["word"], " ")
    rest = words.everywhere.sub(" ", words.auxiliary.sub("", rest))
    statement = re.sub(
        r"^\W*(?:events|moments|scenes|clips|parts|occasions) (?:that |in which |where |when )?", "", rest
    )
    spaced = " ".join(f"{statement} {words.everywhere.sub(' ', before)}".split()).strip(" ,:;.-")
    spaced = _TRAILING.sub("", spaced).strip(" ,:;.-")
    return _cut(spaced) if re.search(r"\w", spaced) else ""


def _before(match: re.Match[str]) -> str:
    """Return the words before the question's words that are about the video; "" if they ask, or are about the asker."""
    before = _LEAD.sub("", match["pre"]).strip(" ,:;")
    return "" if _ASKING.fullmatch(before) or _PERSON.search(before) or _COMPARING.fullmatch(before) else before


def _bare(question: str, time_words: str) -> str:
    """Return the question on a line, without the words that name a time, courtesies and closing marks."""
    text = " ".join(unicodedata.normalize("NFKC", question).split())
    if time_words:
        whole = " ".join(time_words.split())
        # What names a time in several places is joined by commas (times.grammar).
        for piece in [whole] if whole.lower() in text.lower() else whole.split(", "):
            if found := re.search(re.escape(piece), text, re.IGNORECASE):
                text = f"{without_stretch(text[: found.start()], found[0])} {text[found.end() :]}"
    text = " ".join(text.split()).strip(" ?!.,;:¿¡؟،。！？，")
    text = _LEAD.sub("", text).strip(" ,;:¿¡")
    if most := _MOST_IN.match(text):
        return next(f"{many} {things}" for many, things in zip(_HOW_MANY, most.groups(), strict=True) if things)
    asked_last = _ASKED_LAST.match(text)
    return text if asked_last is None else f"how many {next(filter(None, asked_last.groups()))}"


def _in_english(text: str) -> str:
    """Return text with the names of tracked things and of colours in English."""
    for names in (THINGS, COLOURS):
        for name in sorted(names, key=len, reverse=True):
            spaced = name if not name.isascii() and ord(name[0]) > 0x2E00 else rf"(?<!\w){re.escape(name)}(?!\w)"
            text = re.sub(spaced, f" {names[name]} ", text, flags=re.IGNORECASE)
    return text


def _cut(text: str) -> str:
    return text[:STATEMENT_CHARACTERS].strip()


_ASKED_LAST = re.compile(
    r"(?:(?:.*\b)?i want (?P<wanted>.+?) counted\b.*|"
    r"(?:.*\b)?(?:counting|kept count of|keeping count of) (?:all )?(?:the )?(?P<kept>[^,]+?),? how many\b.*|"
    r"(?P<things>(?!.*\bhow (?:many|much)\b.*\bhow many\b|.*\b(?:i|you|we|they|me|say|tell|count|know|wonder)\b)[^,]+?)"
    r"\W+how many(?: (?:were|are|is) (?:there|it|they))?)$",
    re.IGNORECASE,
)
"""Things, and then how many: "black cats - how many?"."""
_MOST_IN = re.compile(
    r"(?:(?:on|in|at) )?(?:which|what) (?:one )?(?:of (?:the|these|those) )?(?:two |three |four )?"
    r"(?:videos?|recordings?|cameras?|clips?|films?) (?:do |does |did |can )?(?:we |you |i )?"
    r"(?:shows?|showed|sees?|saw|ha[sd]|have|records?|recorded|contains?|filmed|captured?|captures) (?:the )?"
    r"(?:most|more|fewest|fewer|least|(?:highest|largest|lowest|smallest) number of) (?P<en>[^,]+?)(?:,.*)?$|"
    r"(?:(?:auf|in) )?welche[rsnm]? (?:kameras?|aufnahmen?|videos?|filme?) (?:zeigt|hat|sieht|enthält|sind|gibt es) "
    r"(?:die )?(?:meisten|wenigsten|mehr|weniger) (?P<de>[^,]+?)(?: zu sehen)?(?:,.*)?$|"
    r"(?:en )?qué (?:c[aá]maras?|v[ií]deos?|grabaci[oó]n) (?:muestra|tiene|ve|graba|hay|se ven) (?:más|menos) "
    r"(?P<es>[^,]+?)(?:,.*)?$",
    re.IGNORECASE,
)
_HOW_MANY = ("how many", "wie viele", "cuántos")
"""Which video has most of something: its number is counted in each of them."""
_PERSON = re.compile(
    r"\b(?:i|i'm|i'd|you|we|we're|us|me|they|it's|sorry|"
    r"(?:my|our) \w+ (?:wants?|asks?|asked|needs?|is|are|says?|kept|keeps|thinks?|bets?))\b",
    re.IGNORECASE,
)
"""Words of a clause before a question that is about the asker. "In my kitchen" is about the video."""
_TO_THE_READER = re.compile(
    r",\s*(?:so,?\s+|and\s+)?(?:what(?:'s|s| is| was)? (?:right|it|the (?:answer|number|total|figure|count))|"
    r"what(?: was)?$|how (?:many|much)|(?:can|could|would|will|do) you|tell me)\b[^,]*$",
    re.IGNORECASE,
)
"""A last clause that asks once more, and names nothing to count."""
_TRAILING = re.compile(
    r"(?:\W+(?:are|is|were|was|sind|hay|there|zu sehen|did we get|do we have|we (?:can )?see|you (?:can )?see|pls|plz|"
    r"(?:which|that) (?:occurred|happened|took place)))+$",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:(?:please|in short|(?:in|of|during|on) (?:the|this) (?:video|recording|footage|clip|film)|so|and|ok|okay|hey|"
    r"hi|well|now|then|also|can you|could you|would you|will you|i(?: would|'d)? (?:want|like) to know|do you know|"
    r"let me know|tell me|say|bitte|und|por favor|y|dime|请|請|من فضلك|هل يمكنك)\b[ ,:]*)+",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"(?:(?:what(?:'s|s)?|which|who|when|where|why|how|is|are|was|were|the|a|an|find|list|show|name|give|me|all|count|answer|on|state|"
    r"indicate|report|determine|kindly|"
    r"at|in|during|of|do|does|did|qué|was|welche|列出)\b\W*)+",
    re.IGNORECASE,
)
SIDEWAYS = re.compile(
    r"\b(?:go(?:es|ne|ing)?|went|drove|ran|rode|swung|bent|(?:turn|mov|walk|driv|run|rid|look|head|veer|swerv|steer|"
    r"swing|bend|fac|point|lean|step|shift|pull|cycl|jump)\w*)(?: \w+ly)?(?: (?:to|towards?))?"
    r"(?: (?:the|his|her|their|its))? "
    r"(?:left|right)\b",
    re.IGNORECASE,
)
"""Movements to a side, which the object memory does not know: "turned left" is no way out of the picture."""
_PLACED_LEFT = re.compile(
    r"\b(?:on|to|at|from|in) (?:the|his|her|their|its) (?:far )?left\b|\b(?:is|are|was|were|be) left\b|"
    r"\bleft (?:in|on|over|behind|hand|side|half|lane|of)\b|\bleft-hand\b",
    re.IGNORECASE,
)
"""Words in which left is a side, or says that something remains."""
_COMPARING = re.compile(
    r"(?:compare|comparing|vergleiche?n?|compara\w*|compár\w+)\b(?:[^:;.!?]|[.:](?=\w))*|"
    r"(?:in|on|for|of|per|in|pro|en|por) (?:each|every|both|jede[rnms]?|beiden|cada|ambas|ambos)\b[^:;.!?]*",
    re.IGNORECASE,
)
"""A clause before a question that says of which videos it asks the same."""
_EACH_VIDEO = re.compile(
    r"\b(?:(?:in|on|for|of|by|at|across|auf|en) (?:each|every|both|either|jede[rnms]?|beiden|cada|ambas|ambos)|per|pro|"
    r"por) (?:of the )?(?:two |three |four |zwei |dos )?"
    r"(?:videos?|recordings?|cameras?|clips?|films?|kameras?|aufnahmen?|filmen?|v[ií]deos?|cámaras?|grabaci(?:ón|ones))\b",
    re.IGNORECASE,
)
"""Words that name the videos of a comparison, and nothing that is counted in them."""
_DENYING = Reading(certain=False)
"""Things of which something is not true: neither the events of a statement nor the objects of a name are these."""
_IDLE_WORDS = """
are is was were be been being there here appear appears appeared visible seen see show shown shows come comes came go
goes went pass passes passed by past through around walk walks walked drive drives drove enter enters entered leave
leaves left exit exits exited arrive arrives arrived different distinct unique individual separate various total
overall observed observe depicted depict turn turns turned end ends ended detected spotted noticed get got r vid whole
which view pls plz camera picture frame screen scene recording video once same time times at most maximum
simultaneously together on to into out up along kommen kommt kam kamen herein hinein rein gehen geht ging gingen hinaus
heraus raus weg betreten betritt betraten verlassen verlässt verliessen und entra entran entró entraron sale salen salió
salieron y along and or recorded record records filmed caught catch catches captured
captures can could do does did has have had we you i one moment any it this that with under over from what give me a
all
"""
_IDLE = frozenset(_IDLE_WORDS.split())
"""Words next to counted things that change nothing of what the object memory counts."""
