"""The sentences that routes write themselves, by the language of the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from gpu_workers.engine.answering.asked import Asked

Sureness = Literal["exactly", "at_least", "about"]
"""How a number was measured. exactly: everything was read and judged. at_least: something was not read. about: tracks,
events or words were joined or compared, not judged one by one."""


@dataclass(frozen=True, slots=True)
class Phrases:
    """Sentences of one language, with slots for str.format.

    number: {sure} {n}. one, times: units of a count. places: after a count. more: what is not listed. yes, no: of
    something that may happen. happens, never: of something that may never happen. always, not_always,
    not_otherwise: of something that may always be so: all {n} events say so; {counted} times say otherwise; {n} of
    {all} events say so and none says otherwise. no_unread, never_unread: if not all
    was read. undescribed: {time} of the scope that nobody could describe. unsaid: of words in speech. not_things: after
    a count of times where things were meant. parts: head of a list of topics. entered, left: of how many things;
    entries, exits: of how many times. objects: {number} {what}. outside: of a time that no video shows. when, what:
    headings of a table.
    """

    exactly: str
    at_least: str
    about: str
    one: str
    times: str
    count: str
    none: str
    more: str
    yes: str
    no: str
    no_unread: str
    happens: str
    never: str
    never_unread: str
    always: str
    not_always: str
    not_otherwise: str
    undescribed: str
    unsaid: str
    not_things: str
    parts: str
    part: str
    at_once: str
    entered: str
    left: str
    entries: str
    exits: str
    objects: str
    event: str
    events: str
    outside: str
    when: str
    what: str

    def number(self, sure: Sureness, n: int) -> str:
        """Return a number with its sureness, as "about 5"."""
        words = {"exactly": self.exactly, "at_least": self.at_least, "about": self.about}[sure]
        return f"{words} {n}"

    @staticmethod
    def opening(text: str) -> str:
        """Return text as the begin of an answer, with a capital."""
        return text[:1].upper() + text[1:]

    def moments(self, moments: Sequence[str], times: int) -> str:
        """Return moments as "0:01:05, 0:02:00.", with the number of those of times that are left out."""
        more = [self.more.format(n=times - len(moments))] if times > len(moments) else []
        return ", ".join([*moments, *more]) + "."

    def counted(self, sure: Sureness, n: int, places: str, units: tuple[str, str]) -> str:
        """Return how often something happens, with the places of it, as "about 5 times: 0:01:05.". units: the words for
        one and for several."""
        head = self.count.format(number=self.number(sure, n), times=units[n != 1])
        return f"{head}: {places}" if places else f"{head}."


_PHRASES: Mapping[str, Phrases] = {
    "en": Phrases(
        exactly="exactly", at_least="at least", about="about", one="time", times="times", count="{number} {times}",
        none="No event says so: {number} {times}.", more="and {n} more", yes="Yes: {counted}",
        no="No. None of the {n} events says so.", no_unread="Not that is known: none of the {n} events that were read "
        "says so, and {rest} were not read.", happens="It does happen: {counted}",
        never="Never: none of the {n} events says so.",
        never_unread="Never, as far as is known: none of the {n} events that were read says so, and {rest} were not "
        "read.",
        always="Yes, always: all {n} events say so.",
        not_always="Not always. It is otherwise {counted}",
        not_otherwise="As far as is known: {n} of {all} events say so, and none says otherwise.",
        undescribed="{time} could not be described.",
        unsaid="Nobody says it: {number} {times} in the transcript.",
        not_things="These are times: one person or thing can be there at several of them.",
        parts="{n} topics, in order:", part="{n} topic:",
        at_once="{number} {what} at once", entered="{what}: {number} entered", left="{what}: {number} left",
        entries="{what}: {number} entries", exits="{what}: {number} exits",
        objects="{number} {what}", event="event", events="events",
        outside="the video does not show that time",
        when="time", what="what",
    ),
    "de": Phrases(
        exactly="genau", at_least="mindestens", about="etwa", one="Mal", times="Mal", count="{number} {times}",
        none="Kein Ereignis sagt das: {number} {times}.", more="und {n} weitere", yes="Ja: {counted}",
        no="Nein. Keines der {n} Ereignisse sagt das.", no_unread="Nicht, soweit bekannt: Keines der {n} gelesenen "
        "Ereignisse sagt das, {rest} wurden nicht gelesen.", happens="Doch: {counted}",
        never="Nie: Keines der {n} Ereignisse sagt das.", never_unread="Nie, soweit bekannt: Keines der {n} gelesenen "
        "Ereignisse sagt das, {rest} wurden nicht gelesen.",
        always="Ja, immer: Alle {n} Ereignisse sagen das.",
        not_always="Nicht immer. Anders ist es {counted}",
        not_otherwise="Soweit bekannt: {n} von {all} Ereignissen sagen das, und keines sagt etwas anderes.",
        undescribed="{time} konnten nicht beschrieben werden.",
        unsaid="Niemand sagt es: {number} {times} im Transkript.",
        not_things="Gezählt sind Zeitpunkte: Dieselbe Person oder Sache kann an mehreren da sein.",
        parts="{n} Themen, der Reihe nach:", part="{n} Thema:",
        at_once="{number} {what} gleichzeitig", entered="{what}: {number} kamen herein", left="{what}: {number} gingen",
        entries="{what}: {number} Eintritte", exits="{what}: {number} Abgänge",
        objects="{number} {what}", event="Ereignis", events="Ereignisse",
        outside="das Video zeigt diese Zeit nicht",
        when="Zeit", what="was",
    ),
    "es": Phrases(
        exactly="exactamente", at_least="al menos", about="unas", one="vez", times="veces", count="{number} {times}",
        none="Ningún evento lo dice: {number} {times}.", more="y {n} más", yes="Sí: {counted}",
        no="No. Ninguno de los {n} eventos lo dice.", no_unread="No que se sepa: ninguno de los {n} eventos leídos lo "
        "dice, y {rest} no se leyeron.", happens="Sí ocurre: {counted}", never="Nunca: ninguno de los {n} eventos lo "
        "dice.", never_unread="Nunca, que se sepa: ninguno de los {n} eventos leídos lo dice, y {rest} no se leyeron.",
        always="Sí, siempre: los {n} eventos lo dicen.",
        not_always="No siempre. Es distinto {counted}",
        not_otherwise="Que se sepa: {n} de {all} eventos lo dicen, y ninguno dice lo contrario.",
        undescribed="No se pudo describir {time}.",
        unsaid="Nadie lo dice: {number} {times} en la transcripción.",
        not_things="Son momentos: la misma persona o cosa puede estar en varios.",
        parts="{n} temas, en orden:", part="{n} tema:",
        at_once="{number} {what} a la vez", entered="{what}: entraron {number}", left="{what}: salieron {number}",
        entries="{what}: {number} entradas", exits="{what}: {number} salidas",
        objects="{number} {what}", event="evento", events="eventos",
        outside="el vídeo no muestra ese momento",
        when="hora", what="qué",
    ),
    "zh": Phrases(
        exactly="正好", at_least="至少", about="大约", one="次", times="次", count="{number} {times}",
        none="没有事件这样说：{number} {times}。",
        more="以及另外 {n} 处", yes="是：{counted}",
        no="没有。{n} 个事件都没有这样说。",
        no_unread="据已知没有：读过的 {n} 个事件都没有这样说，还有 {rest} 个没有读。",
        happens="发生过：{counted}", never="从未：{n} 个事件都没有这样说。",
        never_unread="据已知从未：读过的 {n} 个事件都没有这样说，还有 {rest} 个没有读。",
        always="是，一直如此：{n} 个事件都这样说。",
        not_always="并非一直如此。情况不同：{counted}",
        not_otherwise="据已知：{all} 个事件中有 {n} 个这样说，没有一个说相反的情况。",
        undescribed="有 {time} 无法描述。",
        unsaid="没有人说过：字幕中{number} {times}。",
        not_things="这里数的是时刻：同一个人或物可能出现多次。",
        parts="{n} 个主题，按顺序：", part="{n} 个主题：",
        at_once="同时{number} {what}", entered="{what}：{number} 进入",
        left="{what}：{number} 离开", entries="{what}：{number} 次进入", exits="{what}：{number} 次离开",
        objects="{number} {what}", event="个事件", events="个事件",
        outside="视频没有这个时间",
        when="时间", what="内容",
    ),
    "ar": Phrases(
        exactly="بالضبط", at_least="على الأقل", about="حوالي", one="مرة", times="مرات", count="{number} {times}",
        none="لا يقول أي حدث ذلك: {number} {times}.", more="و {n} أخرى", yes="نعم: {counted}",
        no="لا. لا يقول ذلك أي من {n} حدثا.", no_unread="لا، بحسب المعروف: لا يقول ذلك أي من {n} حدثا تمت قراءتها، ولم "
        "تقرأ {rest}.", happens="بل يحدث: {counted}",
        never="أبدا: لا يقول ذلك أي من {n} حدثا.",
        never_unread="أبدا، بحسب المعروف: لا يقول ذلك أي من {n} حدثا تمت قراءتها، ولم تقرأ {rest}.",
        always="نعم، دائما: يقول ذلك كل الأحداث، وعددها {n}.",
        not_always="ليس دائما. الأمر مختلف {counted}",
        not_otherwise="بحسب المعروف: يقول ذلك {n} من {all} حدثا، ولا يقول أي حدث خلافه.",
        undescribed="تعذر وصف {time}.",
        unsaid="لا أحد يقول ذلك: {number} {times} في النص.",
        not_things="هذه أوقات: قد يكون الشخص أو الشيء نفسه في عدة منها.",
        parts="{n} موضوعات بالترتيب:", part="{n} موضوع:", at_once="{number} {what} في وقت واحد",
        entered="{what}: دخل {number}", left="{what}: خرج {number}", entries="{what}: {number} مرات دخول",
        exits="{what}: {number} مرات خروج", objects="{number} {what}",
        event="حدث", events="أحداث",
        outside="لا يعرض الفيديو هذا الوقت",
        when="الوقت", what="ما يحدث",
    ),
}  # fmt: skip


def phrases_of(asked: Asked) -> Phrases:
    """Return the phrases of the answer's language: the wished one, else the question's, else English."""
    language = asked.question.language or asked.understood.language
    return _PHRASES.get(language, _PHRASES["en"])
