"""Words of time in English."""

from __future__ import annotations

from itertools import product

from gpu_workers.engine.answering.reading.expressions import (
    HOUR_MS,
    MINUTE_MS,
    SECOND_MS,
    WEEKEND,
    Day,
    PartOfDay,
    Reading,
)
from gpu_workers.engine.answering.reading.times.lexicon import Lexicon, entries, listed, numbered

_ONES = listed(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50}
_ORDINALS = listed(
    "first - third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth"
)
_PAST = {"half past": 30, "quarter past": 15, "a quarter past": 15, "quarter to": -15, "a quarter to": -15}
_VIDEOS = listed("video recording film movie clip footage tape stream vid reel")
_THE_VIDEO = [f"{the} {v}" for the, v in product(("the", "this"), _VIDEOS)]
_HALFWAY = ("midway", "half way", "halfway")
_WHOLE = ("it", "it all", "this", *_THE_VIDEO)
_ALL_OF_IT = (
    *(("start", "finish"), ("start", "end"), ("beginning", "end")),
    *(("the start", "the end"), ("the beginning", "the end"), ("the start", "the finish")),
)
_BEGIN = ("begin", "start")
_END = ("end", "stop", "finish")
_BEGINS = listed("starting starts beginning begins commencing commences")
_ENDS = listed("ending ends stopping stops finishing finishes concluding concludes closing closes")
_RUNS_OUT = (
    *("runs out", "ran out", "is over", "was over", "is finished", "is finish", "is done", "is up", "wraps up"),
    *("cuts out", "comes to an end", "came to an end", "comes to a close", "came to a close", "goes black"),
)
_OVER = listed("over done finished completed ended")
_WHAT = ("what", "which thing", "which event", "the thing that", "the event that")
_MOVES = ("skip", "jump", "seek", "wind", "fast forward", "rewind", "scroll", "scrub")
_PLAYS = ("play", "play it", "paused", "paused it", "stopped it", "played it", "watch", "watch it")
_UP = ("up", "directly up", "right up")
_AT_ONCE = ("", "directly ", "immediately ", "right ", "straight ", "just ")
_IS = ("what", "what's", "whats", "what is", "what was", "what's on", "what do we have")
_COMES = (
    *("comes", "came", "is coming", "happens", "happened", "is happening", "was happening", "goes on", "went on"),
    *("is going on", "was going on", "follows", "followed", "takes place", "took place", "occurs", "occurred"),
    *("do we see", "did we see", "do they do", "did they do", "can be seen", "is there", "was there"),
)
_NEXT = ("next", "then", "afterwards", "afterward", "thereafter")
_THEN = (
    *("then what", "what then", "then happened what", "what follows", "what followed"),
    *(f"{what} {comes} {then}" for what, comes, then in product(("what", "who"), _COMES, _NEXT)),
    *(f"{what} {then}" for what, then in product(_IS, ("next", "the next thing", "the very next thing", "next up"))),
    *(f"{what} the next {one}" for what, one in product(_IS, ("event", "scene", "shot", "step"))),
)
_FOLLOWS = ("follows", "followed", "succeeds", "succeeded")
_LAST = ("closing", "final", "last", "very last", "concluding", "ending")
_CLOCKS = (
    *("the clock", "the timestamp", "the time stamp", "the on screen clock", "the clock on screen", "its clock"),
    *("the watch", "the time", "the time of day"),
)
_SHOWS = (
    *listed("showed shows show read reads said says displayed displays was is struck hit hits reached"),
    *("was showing", "is showing", "was reading", "was saying", "was displaying", "stood at", "stands at"),
)


def _third(verbs: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{verb}es" if verb.endswith("sh") else f"{verb}s" for verb in verbs)


ENGLISH = Lexicon.of(
    "en",
    entries("n", numbered(_ONES)),
    entries(
        "n",
        _TENS | {f"{ten} {one}": _TENS[ten] + n for ten, (n, one) in product(_TENS, enumerate(_ONES[1:10], start=1))},
    ),
    entries("o", {word: n for word, n in numbered(_ORDINALS, first=1).items() if word != "-"}),
    entries("o", {"last / final": -1}),
    entries("u", {"hour / hours / hrs / hr": HOUR_MS, "minute / minutes / mins / min": MINUTE_MS}),
    entries("u", "seconds / secs / sec", SECOND_MS),
    entries("Q", "second", SECOND_MS),
    entries(
        "d",
        {
            "half an hour / half hour / half a hour": HOUR_MS // 2,
            "quarter of an hour / quarter hour": HOUR_MS // 4,
            "three quarters of an hour": 3 * HOUR_MS // 4,
            "hour and a half / one and a half hours / an hour and a half": 3 * HOUR_MS // 2,
            "half a minute / half minute": MINUTE_MS // 2,
            "minute and a half / a minute and a half": 3 * MINUTE_MS // 2,
            "an hour": HOUR_MS,
            "a minute": MINUTE_MS,
        },
    ),
    entries("c", {"noon / midday": Reading((12, 0), spoken=True), "midnight": Reading((0, 0), spoken=True)}),
    entries(
        "c",
        {
            f"{words} {hour}": Reading(((n if minute > 0 else n - 1) or 12, minute % 60), spoken=True)
            for (words, minute), (n, hour) in product(_PAST.items(), enumerate(_ONES[1:13], start=1))
        },
    ),
    entries(
        "c",
        {
            f"{lead}{words} {to} {hour}": Reading(
                ((n if past else n - 1) or 12, minute if past else 60 - minute), spoken=True
            )
            for (lead, to, past), (words, minute), (n, hour) in product(
                # "From ten to three" is a stretch, "at ten to three" a time.
                (("", "past", True), ("at ", "to", False)),
                {"five": 5, "ten": 10, "twenty": 20, "twenty five": 25}.items(),
                enumerate(_ONES[1:13], start=1),
            )
        },
    ),
    entries("a", "at / on / time of day / near / towards / toward"),
    entries("b", "between"),
    entries("f", "from / since"),
    entries("f", " / ".join(f"{begins} {at}" for begins, at in product(_BEGINS, ("at", "from", "with", "on")))),
    entries("&", "and / to / till / until / through / up to / up until"),
    entries("&", " / ".join(f"and {to}" for to in ("to", "up to", "till", "until"))),
    entries("&", "straight to / right to / all the way to / right up to / through to / right through to / up till"),
    entries("&", " / ".join(f"{lead}{ends} {at}" for lead, ends, at in product(("", "and "), _ENDS, ("at", "with")))),
    entries("i", "in / during / within / over / throughout / for / while / whilst"),
    entries("x", " / ".join(f"{fr}{a} to {b}" for fr, (a, b) in product(("", "from "), _ALL_OF_IT))),
    entries("t", "the / a / an / this / that"),
    entries("O", "of"),
    entries("H", {"half": 2, "quarter": 4}),
    entries("B", "beginning / start / very beginning / very start / opening / initial"),
    entries("E", "end / very end / closing / concluding / conclusion / finale / tail end"),
    entries(
        "Y",
        " / ".join(
            f"the {end} {of} {the_video}"
            for end, of, the_video in product(("close", "finish", "ending"), ("of", "in"), _THE_VIDEO)
        ),
    ),
    entries("E", " / ".join(f"{it} {ends}" for it, ends in product(_THE_VIDEO, (*_END, *_third(_END), *_RUNS_OUT)))),
    entries(
        "e",
        " / ".join(
            f"the {last} {shot}" for last, shot in product(_LAST, ("shot", "scene", "frame", "moments", "image"))
        ),
    ),
    entries("e", "the ending / the finale"),
    entries("Y", " / ".join(f"how {does} {it} {end}" for does, it, end in product(("does", "did"), _WHOLE, _END))),
    entries("Y", " / ".join(f"how {it} {ends}" for it, ends in product(_WHOLE, _third(_END)))),
    entries("Z", " / ".join(f"how {it} {begins}" for it, begins in product(_WHOLE, _third(_BEGIN)))),
    entries(
        "Z", " / ".join(f"how {does} {it} {begin}" for does, it, begin in product(("does", "did"), _WHOLE, _BEGIN))
    ),
    entries(".", " / ".join(f"{be} {over}" for be, over in product(("is", "was", "has", "has been"), _OVER))),
    entries(".", "ended / began / right away / straight away / immediately"),
    entries("W", " / ".join(f"{lead}{then}" for lead, then in product(("", "and ", "so "), _THEN)), "after"),
    entries("W", " / ".join(f"{be} about to {begin}" for be, begin in product(("is", "was"), _BEGIN)), "before"),
    entries("L", "left / to go / remaining"),
    entries("M", "middle / halfway through"),
    entries("h", " / ".join(f"{way} through {it}" for way, it in product(_HALFWAY, ("it", *_THE_VIDEO)))),
    entries("V", " / ".join(f"of {the} {v}" for the, v in product(("the", "this", "that", "each"), _VIDEOS))),
    entries("V", " / ".join(f"{on} {the} {v}" for on, the, v in product(("in", "on"), ("the", "this"), _VIDEOS))),
    entries("l", "of it / of this thing / of the thing / of the whole thing"),
    entries("V", " / ".join(f"of {v}" for v in _VIDEOS)),
    entries("N", " / ".join(f"into {the} {v}" for the, v in product(("the", "this"), _VIDEOS)) + " / into it"),
    entries("G", {"day ago / days ago": 1, "week ago / weeks ago": 7}),
    entries("y", {"today": 0, "yesterday": 1, "the day before yesterday": 2}),
    entries(
        "y",
        {
            "this morning": (0, PartOfDay(5, 12)),
            "this afternoon": (0, PartOfDay(12, 18)),
            "this evening": (0, PartOfDay(18, 23)),
            "tonight": (0, PartOfDay(21, 30)),
            "last night": (1, PartOfDay(21, 30)),
        },
    ),
    entries(
        "y",
        " / ".join(f"{at} weekend" for at in ("the", "this", "last", "over the", "at the", "on the", "during the")),
        (Day(weekday=5), WEEKEND),
    ),
    entries("J", "day"),
    entries("w", numbered(listed("monday tuesday wednesday thursday friday saturday sunday"))),
    entries(
        "m",
        numbered(
            listed("january february march april may june july august september october november december"), first=1
        ),
    ),
    entries("m", numbered(listed("jan feb mar apr - jun jul aug sept oct nov dec"), first=1)),
    entries(
        "p",
        {
            "in the morning / morning": PartOfDay(5, 12),
            "in the afternoon / afternoon": PartOfDay(12, 18),
            "in the evening / evening": PartOfDay(18, 23),
            "at night / in the night / night": PartOfDay(21, 30),
            "every morning / each morning / in the mornings": PartOfDay(5, 12, every=True),
            "every afternoon / each afternoon / in the afternoons": PartOfDay(12, 18, every=True),
            "every evening / each evening / in the evenings": PartOfDay(18, 23, every=True),
            "every night / each night / in the nights": PartOfDay(21, 30, every=True),
        },
    ),
    entries(">", "after / later than / once the / following / following on / following directly on / directly after"),
    entries(">", "as soon as"),
    entries(
        ">",
        " / ".join(f"{what} {now}{follows}" for what, now, follows in product(_WHAT, _AT_ONCE, _FOLLOWS)),
    ),
    entries(
        ">",
        " / ".join(f"{follows} {now}upon" for follows, now in product(("follows", "followed", "following"), _AT_ONCE)),
    ),
    entries(">", "not earlier than / no earlier than / not before / in the wake of / subsequent to"),
    entries("<", "before / until / till / earlier than / b4 / ahead of / prior to / in advance of / preceding"),
    entries("<", "not later than / no later than / not after / leading up to / in the run up to"),
    entries("<", " / ".join(f"{w} {now}{verb}" for w, now, verb in product(_WHAT, _AT_ONCE, ("precedes", "preceded")))),
    entries("<", " / ".join(f"{w} {leads} {up} to" for w, leads, up in product(_WHAT, ("leads", "led"), _UP))),
    entries("S", " / ".join(f"{w} {c} {s}" for w, c, s in product(("when", "while", "as"), _CLOCKS, _SHOWS))),
    entries("S", " / ".join(f"{c} {s}" for c, s in product((*_CLOCKS, "clock"), _SHOWS))),
    entries("g", "about / around / roughly / approximately / circa"),
    entries("j", "shortly / just / soon"),
    entries("K", "o'clock"),
    entries("k", "mark / point"),
    entries("s", "on the clock / on its clock / on the timestamp / by the clock"),
    entries("C", "ago / timestamp / time stamp / timecode / time code"),
    entries("R", "onwards / onward"),
    entries(
        "P", " / ".join(f"{move}{ahead} to" for move, ahead in product(_MOVES, ("", " ahead", " forward", " back")))
    ),
    entries("P", " / ".join(f"{the_video} at" for the_video in _THE_VIDEO)),
    entries("P", " / ".join(f"{play} {at}" for play, at in product(_PLAYS, ("at", "on", "from")))),
)
