"""The languages that are distinguished, by their ISO 639-1 codes."""

from __future__ import annotations

from dataclasses import dataclass

ENGLISH = "en"


@dataclass(frozen=True, slots=True)
class Language:
    """One language. name: in English, for prompts. grammar: name of its Snowball stemmer, which is also that of its
    text search configuration in PostgreSQL; "" without one. spaced: whether spaces separate its words."""

    code: str
    name: str
    grammar: str = ""
    spaced: bool = True


_ALL = (
    Language("af", "Afrikaans"),
    Language("ar", "Arabic", "arabic"),
    Language("az", "Azerbaijani"),
    Language("be", "Belarusian"),
    Language("bg", "Bulgarian"),
    Language("bn", "Bengali"),
    Language("bs", "Bosnian"),
    Language("ca", "Catalan", "catalan"),
    Language("cs", "Czech"),
    Language("cy", "Welsh"),
    Language("da", "Danish", "danish"),
    Language("de", "German", "german"),
    Language("el", "Greek", "greek"),
    Language("en", "English", "english"),
    Language("es", "Spanish", "spanish"),
    Language("et", "Estonian", "estonian"),
    Language("eu", "Basque", "basque"),
    Language("fa", "Persian"),
    Language("fi", "Finnish", "finnish"),
    Language("fr", "French", "french"),
    Language("ga", "Irish", "irish"),
    Language("gl", "Galician"),
    Language("gu", "Gujarati"),
    Language("he", "Hebrew"),
    Language("hi", "Hindi", "hindi"),
    Language("hr", "Croatian"),
    Language("hu", "Hungarian", "hungarian"),
    Language("hy", "Armenian", "armenian"),
    Language("id", "Indonesian", "indonesian"),
    Language("is", "Icelandic"),
    Language("it", "Italian", "italian"),
    Language("ja", "Japanese", spaced=False),
    Language("ka", "Georgian"),
    Language("kk", "Kazakh"),
    Language("km", "Khmer", spaced=False),
    Language("kn", "Kannada"),
    Language("ko", "Korean"),
    Language("lo", "Lao", spaced=False),
    Language("lt", "Lithuanian", "lithuanian"),
    Language("lv", "Latvian"),
    Language("mk", "Macedonian"),
    Language("ml", "Malayalam"),
    Language("mn", "Mongolian"),
    Language("mr", "Marathi"),
    Language("ms", "Malay"),
    Language("my", "Burmese", spaced=False),
    Language("ne", "Nepali", "nepali"),
    Language("nl", "Dutch", "dutch"),
    Language("no", "Norwegian", "norwegian"),
    Language("pa", "Punjabi"),
    Language("pl", "Polish"),
    Language("pt", "Portuguese", "portuguese"),
    Language("ro", "Romanian", "romanian"),
    Language("ru", "Russian", "russian"),
    Language("si", "Sinhala"),
    Language("sk", "Slovak"),
    Language("sl", "Slovenian"),
    Language("sq", "Albanian"),
    Language("sr", "Serbian", "serbian"),
    Language("sv", "Swedish", "swedish"),
    Language("sw", "Swahili"),
    Language("ta", "Tamil", "tamil"),
    Language("te", "Telugu"),
    Language("th", "Thai", spaced=False),
    Language("tl", "Tagalog"),
    Language("tr", "Turkish", "turkish"),
    Language("uk", "Ukrainian"),
    Language("ur", "Urdu"),
    Language("uz", "Uzbek"),
    Language("vi", "Vietnamese"),
    Language("zh", "Chinese", spaced=False),
)

LANGUAGES: dict[str, Language] = {language.code: language for language in _ALL}
"""Every language by its code."""

CODES: tuple[str, ...] = tuple(LANGUAGES)


def name_of(code: str) -> str:
    """Return the English name of a language. Raises KeyError for an unknown code."""
    return LANGUAGES[code].name


def is_english(code: str) -> bool:
    """Whether the rules for English apply to a text of this language: also where it is unknown ("")."""
    return code in ("", ENGLISH)
