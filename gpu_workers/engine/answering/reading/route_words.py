"""What the words of a question say about the way to answer it, by language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

Pattern = re.Pattern[str]


@dataclass(frozen=True, slots=True)
class RouteWords:
    """Patterns over a question, in any case of its letters. Groups `rest` and `pre` hold what is left.

    times: how often. many: how many of something. every: all moments of something. all_of: all things or happenings of
    a kind. ever: whether something happens at all. always: whether it is so all the time, with the words for that as
    group `word`. about, summary, topics, steps, changed: the whole of a stretch. happens: what a stretch of time holds,
    with no other word. parts: nouns whose number is that of the parts of a video. auxiliary: verbs without a meaning of
    their own, before the words to judge. everywhere: words that name the scope as a whole. table, listed: forms of an
    answer. unsure: words that may ask for more than a search finds. never: that something does not happen at all.
    denial: the particle that stands next to it, which says nothing of its own. each_never: of which things, and not
    whether, it never happens. without: words that deny something of what is counted.
    """

    times: Pattern
    many: Pattern
    every: Pattern
    all_of: Pattern
    ever: Pattern
    always: Pattern
    about: Pattern
    summary: Pattern
    topics: Pattern
    steps: Pattern
    changed: Pattern
    happens: Pattern
    table: Pattern
    listed: Pattern
    parts: Pattern
    auxiliary: Pattern
    everywhere: Pattern
    unsure: Pattern
    never: Pattern
    denial: Pattern
    each_never: Pattern
    without: Pattern


_RECORDING = (
    r"(?:video|vid|reel|recording|footage|clip|film|movie|stream|tape|episode|meeting|lecture|talk|session|show|interview|"
    r"match|game|day|morning|afternoon|evening|night|hour|week)"
)
_WHICH = r"(?:this|that|these|the|my|our|it|all)"
_WHOLE = r"(?:whole |entire |full |complete )?"
_HAPPENS = (
    r"(?:happen(?:s|ed)|is happening|was happening|goes on|went on|is going on|was going on|takes place|took place|"
    r"occur(?:s|red)|is (?:shown|visible|to be seen)|was (?:shown|visible)|can (?:be seen|you see|we see|i see)|"
    r"do (?:you|we|i) see|is there to see)"
)


_EVERYTHING = (
    r"everything (?:that |which |people |they |we )*(?:happen(?:s|ed)|goes on|went on|(?:is|was) going on|do|did|does|"
    r"get up to|takes place|took place)"
)
_GAP = r"[^\w\"“„«「]*"
"""What lies between auxiliaries and the words to judge. A quotation mark belongs to the words."""


def _words(**patterns: str) -> RouteWords:
    return RouteWords(**{name: re.compile(pattern, re.IGNORECASE) for name, pattern in patterns.items()})


_ENGLISH = _words(
    times=r"^(?P<pre>.*?)\b(?:how (?:(?:many|much) (?:separate |different |distinct )?(?:times|occasions)|often|"
    r"frequently)|number of (?:separate |different |distinct )?(?:times|occasions)(?: that| on which| when)?)\b"
    r"(?P<rest>.*)",
    many=r"^(?P<pre>.*?)\b(?:(?:how many|how much(?= (?:\w+ )?(?:people|"
    r"(?!is\b|was\b|has\b|does\b|this\b)\w{3,}s)\b))(?! (?:times|minutes|hours|seconds|days|weeks|months|years|points|"
    r"dollars|euros|pounds|percent|degrees|met(?:re|er)s|kilomet\w+|miles|kilos?|grams|lit(?:re|er)s|pages)\b)"
    r"(?: of (?:the|these|those))?|(?:the )?(?:total )?number of|"
    r"(?:(?:a|the) )?(?:full |overall )?(?:count|tally|total|figure) (?:of|for) "
    r"(?:all )?(?:the )?|count (?:up )?(?:the number of |how many |all (?:the )?|the )|"
    r"add(?:ed)? up (?:all )?(?:the )?|^total )"
    r"(?P<rest>.+)",
    every=r"^(?P<pre>.*?)\b(?:(?:every|each|all)(?: of)?(?: the)?(?: single)? (?:times?|moments?|occasions?|instances?|"
    r"occurrences?|events?|scenes?|clips?)|whenever|wherever)\b(?: when| that| where| in which| at which| of| with| "
    r"whose)?(?P<rest>.*)",
    all_of=r"(?P<pre>)^(?:(?:list|name|show|enumerate|find|give|get)(?: me| us)?|i want(?: to see)?)(?: a list of)? "
    r"(?:all(?: of)?|every|each)(?: single)?(?: the| these| those)? "
    r"(?!(?:of|it|this|that|you|there|(?:\w+ )?(?:colou?rs?|things?|information|details?))\b)(?P<rest>\w.*)",
    ever=r"(?P<pre>)^(?:do|does|did|is|are|was|were|has|have|had|can)\b(?P<rest>.*\b(?:ever|never|even once|"
    r"at any (?:point|time|moment))\b.*)",
    always=r"(?P<pre>)^(?:do|does|did|is|are|was|were|has|have|had)\b(?P<rest>.*\b(?P<word>always|at all times|"
    r"all (?:of )?the time|all along|(?:for |during |throughout )?the (?:whole|entire) time|constantly|permanently|"
    r"continuously|without exception)\b.*)",
    about=rf"\bwhat(?:'s|s| is| was)? {_WHICH} {_WHOLE}{_RECORDING} (?:even |really |all )?(?:about|covers|shows)\b|"
    rf"\bwhat (?:does|did) {_WHICH} {_WHOLE}{_RECORDING} (?:deal with|cover|contain)\b|"
    rf"\bof what treats {_WHICH} {_WHOLE}{_RECORDING}$|"
    rf"^what(?:'s|s| is) in {_WHICH} {_WHOLE}{_RECORDING} overall$|"
    rf"^what(?:'s|s| is| was| are| were)?(?: all)?(?: {_WHICH})?(?: {_WHOLE}{_RECORDING}s?)?(?: all)? about"
    rf"(?: (?:of|in) {_WHICH} {_RECORDING})?$|"
    rf"^what does {_WHICH} {_WHOLE}{_RECORDING} (?:deal with|cover|contain|show)\b|"
    rf"^what is (?:all )?(?:this|that) {_RECORDING}$",
    summary=r"^(?:(?:give|write|make|show)(?: me| us)? )?(?:an?|the|one)?\s?(?:\w+ )?(?:summar\w+|recap|overview|"
    r"synopsis|outline|gist|tl;?dr)\b|^sum up\b|\bsum (?:it|this|that|everything)(?: all)? up\b|"
    r"\b(?:summary|synopsis|gist|digest|recap|rundown|short version|resume|(?:full|complete) (?:report|account)) "
    r"(?:of|on)\b|"
    r"\b(?:wants? an? (?:digest|summary|overview)|(?:brief|catch|fill) me (?:up|in|on)|in (?:its|their) entirety)\b|"
    rf"\b{_EVERYTHING}\b|\bwhat (?:are|were) all the things (?:that happen|they do|people do|that were done)\b|"
    r"\bwhat all (?:goes|went|happens)\b|"
    r"\b(?:what|explain|describe|tell)\b.*,? (?:in a few (?:sentences|words)|all of it|all in all|broadly)$|"
    rf"\b(?:describe|characteri[sz]e|explain) (?:{_WHICH} )?(?:whole|entire|full|complete) {_RECORDING}\b|"
    r"\b(?:an?|short|brief|quick|full) (?:summary|overview|recap|outline)\b|"
    r"\b(?:key|main|most important) (?:points|moments|events|parts|themes|"
    rf"ideas|things|takeaways)\b|^describe {_WHICH} {_WHOLE}{_RECORDING}$|"
    rf"^what {_HAPPENS} (?:in|during|throughout|over|on) {_WHICH} {_WHOLE}{_RECORDING}s?$|"
    r"^what (?:all )?(?:happens|happened|goes on|went on|is done|was done) (?:in general|overall|altogether|in all)\b",
    topics=r"\b(?:which|what|list|name|all|how many|the|main)\b.*\b(?:topics|subjects|themes|chapters)\b|"
    rf"\bthe (?:topic|subject|theme) of {_WHICH}\b|^(?:what|which) (?:are|were) (?:all )?(?:the )?(?:main )?"
    r"(?:activities|events|happenings|scenes)\b|"
    r"^(?:what|which) (?:activities|events|things) (?:happen\w*|(?:are|were) (?:going on|done|shown)|go on|went on|"
    r"take place|took place|occur(?:s|red)?)\b|^(?:make|give|write|list|name)\b.*\b(?:activities|everything)\b|"
    rf"^(?:what|which) (?:places|people|activities|things|rooms) does {_WHICH} {_WHOLE}{_RECORDING} (?:show|contain)\b",
    steps=r"\btimeline of\b|\b(?:item by item|thing by thing)\b|"
    r"\b(?:sequence of (?:the )?(?:activities|events|things|actions)|in what (?:sequence|order)|one after other|"
    r"what came first, what next)\b|"
    r"\b(?:list|everything|activities|what (?:they|people) (?:do|did|were doing))\b.*"
    r"\bin (?:the )?(?:\w+ )?order\b(?! to)|"
    r"\b(?:list|what|which|name|give|show|describe|explain|write)\b.*\bsteps\b|\bstep[- ]by[- ]step\b|"
    r"\bone after (?:another|the other)\b|\bin (?:sequence|chronological order|order of time)\b|^list in order\b",
    changed=r"^what(?:'s| is| has| have| had| was| all)?(?: been| all)? (?:different|chang(?:e|es|ed|ing))\b|^how "
    r"(?:did|does|has|have) .*\bchanged?$|\bwhat changes\b",
    happens=rf"^(?:(?:tell me|describe|show me) )?(?:and )?what {_HAPPENS}(?: (?:there|then|here|"
    rf"on (?:the )?(?:screen|camera|video)|in {_WHICH} {_RECORDING}))*$",
    table=r"\b(?:as|in|into) (?:an? )?(?:\w+ )?table\b|\btabulate\b|\btable of\b",
    listed=r"^(?:list|name|enumerate|give (?:me )?(?:a list|all))\b|^(?:what|which) are (?:all )?the\b|\ba list of\b",
    parts=r"^\W*(?:different |distinct |main )?(?:topics|subjects|themes|chapters|sections|parts)\b",
    auxiliary=rf"^{_GAP}(?:(?:do|does|did|is|are|was|were|has|have|had|can|could|will|would|there|been|it happen that|"
    rf"it (?:has )?happened that|in total|we see|you see|i see)\b{_GAP})+",
    everywhere=rf"\b(?:in|into|during|throughout|over|of|on|onto|across|for|from) (?:all(?: of)? )?"
    rf"(?:{_WHICH} {_WHOLE}|(?:whole|entire|full|complete) ){_RECORDING}s?\b|"
    r"\b(?:in total|altogether|overall|all in all|in all|as a whole|from start to finish|from beginning to end|on film|"
    r"give (?:me )?(?:a|the) number|"
    r"on camera|on screen|at all|ever|never|even once|at any (?:point|time|moment)|exactly|"
    r"please)\b|\b(?:are|is|were|was) there\b",
    unsure=r"\b(?:always|ever|never|every|everything|throughout|overall|altogether|total|usually|mostly|repeatedly|"
    r"count|counts|whole|entire|sequence|stages|phases|storyline|plot|summar\w+|in general)\b",
    never=r"\bnever\b|\bnot (?:ever|even once)\b",
    denial=r"\bnot\b(?= ever\b| even once\b)",
    each_never=r"\b(?:who|that|which|whose|whom)\b.*\bnever\b",
    without=r"\b(?:never|not|nobody|no one|none|without|neither|nor|except)\b|n't\b",
)
_GERMAN_HAPPENS = (
    r"(?:passiert\w*|geschieht|geschah|ist (?:passiert|geschehen|los|zu sehen)|war (?:los|zu sehen)|ist|war|sieht man|"
    r"ist da los)"
)
_GERMAN_IN = (
    r"(?:im|in dem|in diesem|auf dem|auf diesem|in der|in dieser|auf der|auf dieser) (?:ganzen |gesamten )?"
    r"(?:video|film|clip|aufnahme)"
)
_GERMAN = _words(
    times=r"^(?P<pre>.*?)\b(?:wie oft|wie ?viele? ?mal\w*|wie häufig)\b(?P<rest>.*)",
    many=r"^(?P<pre>.*?)\b(?:wie ?viele?|die (?:anzahl|zahl) der)\b(?P<rest>.+)",
    every=r"^(?P<pre>.*?)\b(?:jedes ?mal|immer|alle (?:momente|stellen|szenen|male|ereignisse))\b,?(?: wenn| an denen|"
    r" in denen| bei denen| wo| mit)(?P<rest>.*)",
    all_of=r"(?P<pre>)^(?:liste?|nenne?|zeige?|finde?|gib)(?: mir| uns)? (?:bitte )?(?:alle|jede[rnms]?|sämtliche)"
    r"(?: der| die)? (?!(?:farben?|dinge|details)\b)(?P<rest>\w.*?)(?: auf| an)?$",
    ever=r"(?P<pre>)^(?:hat|haben|ist|sind|war|waren|wird|gibt|gab|kommt|kam|geht|ging|fährt|fuhr)\b(?P<rest>.*\b(?:"
    r"jemals|je|nie|niemals|irgendwann)\b.*)",
    always=r"(?P<pre>)^(?:hat|haben|ist|sind|war|waren|wird|gibt|gab|kommt|kam|geht|ging|fährt|fuhr|trägt|tragen|trug|"
    r"steht|stehen|stand|liegt|bleibt|blieb)\b(?P<rest>.*\b(?P<word>immer|stets|ständig|jederzeit|dauernd|durchgehend|"
    r"die ganze zeit(?: über)?|ausnahmslos)\b.*)",
    about=r"\bworum (?:geht|ging|handelt)\b|\bwovon handelt\b|^was ist (?:das|der) thema\b",
    summary=r"^(?:bitte )?fass\w*\b.*\bzusammen\b|zusammenfass\w*|\büberblick\b|\bkurzfassung\b|\b(?:wichtigsten|"
    rf"wesentlichen) (?:punkte|momente|ereignisse)\b|^was {_GERMAN_HAPPENS} {_GERMAN_IN}(?: zu sehen)?$",
    topics=r"\bthemen\b",
    steps=r"\bschritte?n?\b",
    changed=r"^was (?:hat|haben) sich\b.*(?:änder|wandel)|^was (?:ver)?änder\w* sich\b|^was ist anders\b",
    happens=rf"^was {_GERMAN_HAPPENS}(?: da| dort| dann| {_GERMAN_IN}(?: zu sehen)?)?$",
    table=r"\btabelle\b|\btabellarisch\b",
    listed=r"^(?:liste|nenne|zähle)\b|\beine liste\b",
    parts=r"^\W*(?:themen|kapitel|abschnitte|teile)\b",
    auxiliary=rf"^{_GAP}(?:(?:ist|sind|war|waren|wird|werden|wurde|wurden|hat|haben|gibt|gab|es|kann|man|sieht)\b{_GAP})+",
    everywhere=r"\b(?:im|in diesem|in der|auf dem|auf diesem) (?:ganzen |gesamten )?(?:video|film|aufnahme|clip)\b|"
    r"\b(?:insgesamt|jemals|je|nie|niemals|irgendwann|zu sehen|bitte|überhaupt)\b",
    unsure=r"\b(?:immer|jemals|nie|niemals|insgesamt|ständig|meistens|ganze|gesamte|ablauf|verlauf|zähle)\b",
    never=r"\b(?:nie|niemals)\b",
    denial=r"(?!)",
    each_never=r",\s*(?:der|die|das|welche\w*)\b.*\b(?:nie|niemals)\b",
    without=r"\b(?:nicht|nie|niemals|niemand|kein\w*|ohne|außer)\b",
)
_SPANISH_HAPPENS = r"(?:pas[aóo]|ha pasado|pasaba|sucedi[oó]|sucede|ocurre|ocurri[oó]|se ve|se ve[ií]a)"
_SPANISH_IN = r"(?:en|durante) (?:el|este|todo el|la|esta|toda la) (?:v[ií]deo|grabaci[oó]n|clip|pel[ií]cula)"
_SPANISH = _words(
    times=r"^(?P<pre>.*?)\b(?:cu[aá]ntas veces|con qu[eé] frecuencia)\b(?P<rest>.*)",
    many=r"^(?P<pre>.*?)\b(?:cu[aá]nt[oa]s|el n[uú]mero de)\b(?P<rest>.+)",
    every=r"^(?P<pre>.*?)\b(?:cada vez|todas las veces|todos los momentos|todas las escenas)\b(?: que| en los? que| en "
    r"las? que)?(?P<rest>.*)",
    all_of=r"(?P<pre>)^(?:(?:lista|enumera|nombra|muestra|encuentra|busca|di)(?:me|nos)?|mu[eé]stra(?:me|nos)|d[ií]me) "
    r"(?:tod[oa]s|cada)(?: l[oa]s)? (?!(?:colores|cosas|detalles)\b)(?P<rest>\w.*)",
    ever=r"(?P<pre>)^(?P<rest>.*\b(?:alguna vez|nunca|jam[aá]s|en alg[uú]n momento)\b.*)",
    always=r"(?P<pre>)^(?!(?:(?:por|con|de|a|en) )?(?:qui[eé]n|qu[eé]|cu[aá]l|cu[aá]nt|d[oó]nde|cu[aá]ndo|c[oó]mo))"
    r"(?P<rest>.*\b(?P<word>siempre|en todo momento|todo el tiempo|constantemente|continuamente)\b.*)",
    about=r"\bde qu[eé] (?:se )?(?:trata|va|habla)\b",
    summary=r"\bresum\w*|\bsinopsis\b|\b(?:puntos|momentos) (?:clave|principales)\b|"
    rf"^qu[eé] {_SPANISH_HAPPENS} {_SPANISH_IN}$",
    topics=r"\btemas\b",
    steps=r"\bpasos\b|\bpaso a paso\b",
    changed=r"\bqu[eé] (?:ha |han )?cambi\w+",
    happens=rf"^qu[eé] {_SPANISH_HAPPENS}(?: all[ií]| entonces| {_SPANISH_IN})?$",
    table=r"\btabla\b",
    listed=r"^(?:lista|enumera|nombra)\b|\buna lista\b",
    parts=r"^\W*(?:temas|cap[ií]tulos|partes)\b",
    auxiliary=rf"^{_GAP}(?:(?:hay|hubo|ha|han|se|es|son|est[aá]n?|aparecen?)\b{_GAP})+",
    everywhere=r"\b(?:en|durante) (?:el|este|todo el|la|esta|toda la) (?:v[ií]deo|grabaci[oó]n|clip|pel[ií]cula)\b|"
    r"\b(?:"
    r"en total|alguna vez|nunca|jam[aá]s|en alg[uú]n momento|por favor)\b",
    unsure=r"\b(?:siempre|nunca|jam[aá]s|en total|todo el|toda la|secuencia|cuenta)\b",
    never=r"\b(?:nunca|jam[aá]s)\b",
    denial=r"\bno\b",
    each_never=r"\bque\b.*\b(?:nunca|jam[aá]s)\b|^(?:qui[eé]n\w*|qu[eé]|cu[aá]l\w*|d[oó]nde|cu[aá]ndo)\b",
    without=r"\b(?:no|nunca|jam[aá]s|nadie|ning[uú]n\w*|sin|excepto)\b",
)
_CHINESE_HAPPENS = r"都?(?:发生|發生)了?(?:什么|什麼|啥)(?:事情?)?了?"
_CHINESE_IN = r"(?:在)?(?:整个|整個|这个|這個|这段|這段)?(?:视频|視頻|影片|录像|錄像)(?:里|裡|中|内|內)?(?:面)?"
_CHINESE = _words(
    times=r"^(?P<pre>.*?)(?:多少次|[几幾]次|多少回|多久一次)(?P<rest>.*)",
    many=r"^(?P<pre>.*?)(?:多少|[几幾])[个個辆輛名位只隻条條台只件]?(?P<rest>.+)",
    every=r"^(?P<pre>.*?)(?:每一?次|所有(?=.*(?:时刻|時刻|片段|地方)))(?P<rest>.*)",
    all_of=r"(?P<pre>)^[请請]?(?:列出|列举|列舉|显示|顯示|找出)(?:所有|全部)的?(?P<rest>.+)",
    ever=r"(?P<pre>)(?P<rest>.*(?:有没有|有沒有|是否|曾经|曾經|从未|從未|从来没有|從來沒有|从不|從不).*)",
    always=r"(?P<pre>)^(?!.*[谁誰哪什])(?P<rest>.*(?P<word>总是|總是|一直|始终|始終|随时都|隨時都).*)",
    about=r"(?:讲|講|说|說|关于|關於)(?:了|的)?(?:是)?(?:什么|什麼|啥)|主要内容|主要內容|大意",
    summary=rf"总结|總結|概括|摘要|概述|概要|^{_CHINESE_IN}{_CHINESE_HAPPENS}$",
    topics=r"主题|主題|话题|話題",
    steps=r"步骤|步驟",
    changed=r"(?:什么|什麼|哪些)(?:改变|改變|变化|變化)|[变變]了(?:什么|什麼)|(?:改变|改變)了(?:什么|什麼)",
    happens=rf"^(?:当时|當時|那时|那時|这时|這時|{_CHINESE_IN})?{_CHINESE_HAPPENS}$",
    table=r"表格",
    listed=r"列出|列举|列舉",
    parts=r"^(?:主题|主題|话题|話題|章节|章節|部分)",
    auxiliary=r"^(?:有(?![没沒]有)|是(?!否)|会|會)+",
    everywhere=r"(?:在)?(?:整个|整個|这个|這個|这段|這段)?(?:视频|視頻|影片|录像|錄像)(?:里|裡|中|内|內)?|总共|總共|一共|有没有|"
    r"有沒有|是否|曾经|曾經|从未|從未|从来没有|從來沒有|从不|從不|[吗嗎呢]$|出现了?$|出現了?$",
    unsure=r"总是|總是|从不|從不|整个|整個|一共|总共|總共|全部",
    never=r"从未|從未|从来没有|從來沒有|从不|從不",
    denial=r"(?!)",
    each_never=r"[谁誰哪]|(?:从未|從未|从来没有|從來沒有|从不|從不).*的[人车車]",
    without=r"(?<!有)[没沒]|从未|從未|从不|從不|不(?![同])",
)
_ARABIC_HAPPENS = r"(?:حدث|يحدث|حصل|يحصل|جرى|يجري|كان يحدث)"
_ARABIC_IN = r"في (?:هذا |كامل )?(?:الفيديو|المقطع|التسجيل)"
_ARABIC = _words(
    times=r"^(?P<pre>.*?)(?:كم مر[ةه]|كم عدد المرات(?: التي)?)(?P<rest>.*)",
    many=r"^(?P<pre>.*?)(?:كم عدد|كم)\b(?P<rest>.+)",
    every=r"^(?P<pre>.*?)(?:في كل مرة|كل مرة|جميع اللحظات التي)(?P<rest>.*)",
    all_of=r"(?P<pre>)^(?:اذكر|اسرد|اعرض)(?: لي)? (?:كل|جميع) (?P<rest>.+)",
    ever=r"(?P<pre>)^هل\b(?P<rest>.*(?:أبدا|أبداً|قط|في أي وقت|من قبل).*)",
    always=r"(?P<pre>)^هل\b(?P<rest>.*(?P<word>دائما|دائماً|طوال الوقت|باستمرار).*)",
    about=r"عم(?:ّ|ا|ّا)? (?:يدور|يتحدث|تدور)|عن ماذا|حول ماذا|ما (?:هو )?موضوع",
    summary=rf"لخ(?:ص|ّص)|ملخص|خلاصة|موجز|تلخيص|^ماذا {_ARABIC_HAPPENS} {_ARABIC_IN}$",
    topics=r"المواضيع|الموضوعات",
    steps=r"خطوات",
    changed=r"ما(?:ذا)? (?:الذي )?تغي(?:ر|ّر)",
    happens=rf"^ماذا {_ARABIC_HAPPENS}(?: هناك| {_ARABIC_IN})?$",
    table=r"جدول",
    listed=r"^(?:اذكر|عدد|اسرد)\b|قائمة",
    parts=r"^\W*(?:المواضيع|الموضوعات|مواضيع|الفصول)",
    auxiliary=rf"^{_GAP}(?:(?:هناك|يوجد|كان|كانت|في)\b{_GAP})+",
    everywhere=r"في (?:هذا |كامل )?الفيديو|أبداً?|قط|في أي وقت|من قبل|إجمالا",
    unsure=r"دائما|أبدا|كامل|إجمالا",
    never=r"\b(?:لا|لم|لن)\b.*(?:أبداً?|قط)",
    denial=r"\b(?:لا|لم|لن)\b",
    each_never=r"\b(?:الذي|التي|الذين|ممن)\b.*\b(?:لا|لم|لن)\b",
    without=r"\b(?:لا|لم|لن|ليس|بدون|دون|غير)\b",
)

BY_LANGUAGE: Mapping[str, RouteWords] = {
    "en": _ENGLISH,
    "de": _GERMAN,
    "es": _SPANISH,
    "zh": _CHINESE,
    "ar": _ARABIC,
}
"""By ISO 639-1 code."""

THINGS: Mapping[str, str] = {
    **dict.fromkeys(("menschen", "personen", "leute", "personas", "gente", "人", "أشخاص", "شخص", "الأشخاص"), "people"),
    **dict.fromkeys(("männer", "hombres"), "men"),
    **dict.fromkeys(("frauen", "mujeres"), "women"),
    **dict.fromkeys(("kinder", "niños", "孩子"), "children"),
    **dict.fromkeys(("autos", "wagen", "coches", "carros", "汽车", "汽車", "车", "車", "سيارة", "سيارات"), "cars"),
    **dict.fromkeys(("lastwagen", "lkw", "camiones", "卡车", "卡車", "شاحنة", "شاحنات"), "trucks"),
    **dict.fromkeys(("busse", "autobuses", "公交车", "حافلة", "حافلات"), "buses"),
    **dict.fromkeys(("fahrräder", "bicicletas", "自行车", "自行車", "دراجة", "دراجات"), "bicycles"),
    **dict.fromkeys(("hunde", "perros", "狗", "كلب", "كلاب"), "dogs"),
    **dict.fromkeys(("katzen", "gatos", "猫", "貓", "قطة", "قطط"), "cats"),
    **dict.fromkeys(("tiere", "animales", "动物", "動物", "حيوانات"), "animals"),
    **dict.fromkeys(("vögel", "pájaros", "鸟", "鳥", "طيور"), "birds"),
}
"""English names of things that are tracked, by other languages' words."""

COLOURS: Mapping[str, str] = {
    **dict.fromkeys(("rote", "roten", "roter", "rojos", "rojas", "红色", "紅色", "حمراء"), "red"),
    **dict.fromkeys(("blaue", "blauen", "azules", "蓝色", "藍色", "زرقاء"), "blue"),
    **dict.fromkeys(("grüne", "grünen", "verdes", "绿色", "綠色", "خضراء"), "green"),
    **dict.fromkeys(("weiße", "weißen", "blancos", "blancas", "白色", "بيضاء"), "white"),
    **dict.fromkeys(("schwarze", "schwarzen", "negros", "negras", "黑色", "سوداء"), "black"),
    **dict.fromkeys(("gelbe", "gelben", "amarillos", "amarillas", "黄色", "黃色", "صفراء"), "yellow"),
}
"""English names of colours, by other languages' words."""
