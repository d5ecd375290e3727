"""Settings of a site, checked once and frozen.

The MkDocs plugin hands over what stands below `- sitegen:` in mkdocs.yml; the command line hands over
the same names. A key that does not exist is an error that names the nearest one that does.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from sitegen import places
from sitegen.errors import ConfigError
from sitegen.language import ENGLISH, LANGUAGES

Scalar = float | int | str | bool
_EXPONENT = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+")
_CODE = re.compile(r"[A-Z]{2,5}-\d{2}")
_KIND = re.compile(r"[a-z][a-z0-9-]{0,39}")
_DOMAIN = re.compile(r"[^\s@.]+(\.[^\s@.]+)+")
_Fault = tuple[tuple[object, ...], str]  # keys that lead to it; what was expected


@dataclass(frozen=True, slots=True)
class Redaction:
    """What is taken out of every text before it is stored, besides what always is.

    Args:
        patterns: (kind, regular expression); what it matches becomes `[redacted:<kind>]`.
        keep_emails_of: domains in lower case; addresses there, and below, stay.
    """

    patterns: tuple[tuple[str, str], ...] = ()
    keep_emails_of: tuple[str, ...] = ()


ALWAYS = Redaction()  # no more and no less


@dataclass(frozen=True, slots=True)
class Config:
    """What a site is built from.

    Args:
        runs: folder of runs, read only.
        home: folder sitegen writes to; None = `.sitegen` beside `runs`.
        rules: folders with further rule cards; their codes and file names must not be ours.
        params: rule code -> parameter -> value, in place of what the card says.
        muted: codes of rules that are not run on this site; a run.toml mutes findings of one run.
        presets: sets of absolute bands, such as `seed000`, that runs are held against; a run.toml may choose
            others.
        templates: folder whose templates win over ours; they may extend `sitegen/<name>`.
        redact: what is taken out of every text besides, and which addresses stay.
        jobs: processes to use; None = one per core.
        policy: whether pages carry a Content-Security-Policy that refuses scripts of others.
        previews: whether pages get a picture for links that unfold; None = where `site_url` is known, since
            such links name the picture in full.
        language: code of the language that pages are in; a mkdocs.yml that says none follows its theme.
        languages: codes of all languages that the site is built in; the others lie below `/<code>/`.
        group_seeds: whether runs that differ in the seed only share a place on leaderboards, with their mean.
        title: name of the site, from MkDocs' `site_name`.
        site_url: address of the published site, from MkDocs' `site_url`; "" = not known.
        file: the mkdocs.yml that says so; None where there is none.
    """

    runs: Path = Path("runs")
    home: Path | None = None
    rules: tuple[Path, ...] = ()
    params: Mapping[str, Mapping[str, Scalar]] = field(default_factory=dict)
    muted: tuple[str, ...] = ()
    presets: tuple[str, ...] = ()
    templates: Path | None = None
    redact: Redaction = ALWAYS
    jobs: int | None = None
    previews: bool | None = None
    policy: bool = True
    language: str = ENGLISH
    languages: tuple[str, ...] = ()
    group_seeds: bool = True
    title: str = "RL run archive"
    site_url: str = ""
    file: Path | None = None

    def where(self, keys: Sequence[str]) -> str:
        """`mkdocs.yml:12: muted`: where the setting that `keys` lead to stands."""
        return ": ".join((_where(self.file, keys), *keys))

    @property
    def archive_home(self) -> Path:
        """The `.sitegen` folder of this site."""
        return self.home if self.home is not None else self.runs.absolute().parent / ".sitegen"

    @property
    def others(self) -> tuple[str, ...]:
        """Languages that the site is built in besides its own."""
        return tuple(code for code in self.languages if code != self.language)

    @property
    def draws_previews(self) -> bool:
        """Whether pictures of pages are drawn."""
        return bool(self.site_url) if self.previews is None else self.previews

    def with_paths(self, *, runs: Path | None = None, home: Path | None = None) -> Config:
        """The same settings with the folders a command line named."""
        return replace(
            self,
            runs=runs if runs is not None else self.runs,
            home=home if home is not None else self.home,
        )


_NOT_OURS = ("site_url", "file")  # a site says the one to MkDocs, and the other is where it says all this
KEYS = tuple(f.name for f in fields(Config) if f.name not in _NOT_OURS)


class _Faults(ValueError):  # noqa: N818 - several at once
    """What is wrong with a setting, and the part of it that can be used."""

    def __init__(self, *faults: _Fault, usable: object = None) -> None:
        super().__init__(*faults)
        self.faults = faults
        self.usable = usable


def read(
    settings: Mapping[str, object],
    base: Path,
    file: Path | None = None,
) -> Config:
    """Config from the mapping `settings` of `file`; relative folders start at `base`.

    Raises ConfigError that lists every fault at once, each with its line.
    """
    config, faults = sift(settings, base, file)
    if faults:
        raise ConfigError("\n".join(faults))
    return config


def sift(
    settings: Mapping[str, object], base: Path, file: Path | None = None
) -> tuple[Config, tuple[str, ...]]:
    """Config from what can be used of `settings`, and every fault of the rest, opened by where it stands."""
    faults: list[_Fault] = []
    known: dict[str, object] = {}
    for key, value in settings.items():
        if key not in KEYS:
            faults.append(((key,), f"unknown key '{key}'.{nearest(str(key), KEYS)}"))
        elif value is not None:
            try:
                known[key] = _READERS[key](value, base)
            except _Faults as error:
                faults += [((key, *keys), text) for keys, text in error.faults]
                known |= {key: error.usable} if error.usable is not None else {}
            except ValueError as error:
                faults.append(((key,), str(error)))
    told = tuple(_told(file, tuple(map(str, keys)), text) for keys, text in faults)
    return Config(**known, file=file), told  # type: ignore[arg-type]


def _told(file: Path | None, keys: tuple[str, ...], text: str) -> str:
    named = keys if not text.startswith("unknown key") else keys[:-1]
    return ": ".join((_where(file, keys), *named, text))


def _where(file: Path | None, keys: Sequence[str]) -> str:
    return "mkdocs.yml: plugins: sitegen" if file is None else places.where(file, keys)


def nearest(word: str, known: tuple[str, ...]) -> str:
    """` Did you mean x?` with a leading space, or what there is to choose from."""
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return f" Did you mean '{close[0]}'?" if close else f" Known are: {', '.join(known)}."


def _text(value: object, base: Path) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"expected a text, found {value!r}")
    return value


def _folder(value: object, base: Path) -> Path:
    return base / Path(_text(value, base)).expanduser()


def _folders(value: object, base: Path) -> tuple[Path, ...]:
    items = value if isinstance(value, list | tuple) else [value]
    found = tuple(_folder(item, base) for item in items)
    for folder in found:
        if not folder.is_dir():
            raise ValueError(f"no folder at '{folder.name}' beside the configuration file")
    return found


def _one_folder(value: object, base: Path) -> Path:
    return _folders([value], base)[0]


def _codes(value: object, base: Path) -> tuple[str, ...]:
    items = value if isinstance(value, list | tuple) else [value]
    codes = tuple(str(item) for item in items)
    odd = [((), f"expected rule codes such as KL-05, found {code!r}") for code in codes if not _coded(code)]
    if odd:
        raise _Faults(*odd, usable=tuple(filter(_coded, codes)))
    return codes


def _coded(code: object) -> bool:
    return _CODE.fullmatch(str(code)) is not None


def _presets(value: object, base: Path) -> tuple[str, ...]:
    items = value if isinstance(value, list | tuple) else [value]
    for item in items:
        if not isinstance(item, str) or not re.fullmatch(r"[a-z][a-z0-9_]*", item):
            raise ValueError(f"expected names of presets such as seed000, found {item!r}")
    return tuple(dict.fromkeys(map(str, items)))


def _params(value: object, base: Path) -> dict[str, dict[str, Scalar]]:
    if not isinstance(value, Mapping):
        raise ValueError("expected rule codes with parameters below them, e.g. `ENT-01: {floor: 0.05}`")
    faults: list[_Fault] = []
    out: dict[str, dict[str, Scalar]] = {}
    for code, params in value.items():
        if not _coded(code):
            faults.append(((code,), f"expected a rule code such as KL-05, found {code!r}"))
        elif not isinstance(params, Mapping):
            faults.append(((code,), f"expected `parameter: value` pairs, found {params!r}"))
        else:
            odd = {
                name for name, setting in params.items() if not isinstance(setting, float | int | str | bool)
            }
            wanted = "expected a number, text or true/false, found"
            faults += [((code, name), f"{wanted} {params[name]!r}") for name in params if name in odd]
            out[code] = {name: _number(setting) for name, setting in params.items() if name not in odd}
    if faults:
        raise _Faults(*faults, usable=out)
    return out


def _number(setting: Scalar) -> Scalar:
    """YAML takes `1e-6` and `1.0e6` for texts; they are numbers here."""
    return float(setting) if isinstance(setting, str) and _EXPONENT.fullmatch(setting) else setting


_REDACT = ("patterns", "keep_emails_of")


def _redact(value: object, base: Path) -> Redaction:
    if not isinstance(value, Mapping):
        raise ValueError(f"expected {' and '.join(_REDACT)} below it, found {value!r}")
    faults: list[_Fault] = [
        ((key,), f"unknown key '{key}'.{nearest(str(key), _REDACT)}") for key in value if key not in _REDACT
    ]
    patterns = value.get("patterns") or {}
    if isinstance(patterns, Mapping):
        faults += _pattern_faults(patterns)
    else:
        faults.append((("patterns",), f"expected `name: regular expression` pairs, found {patterns!r}"))
    domains = value.get("keep_emails_of") or []
    domains = domains if isinstance(domains, list | tuple) else [domains]
    odd = [one for one in domains if not isinstance(one, str) or not _DOMAIN.fullmatch(one)]
    if odd:
        faults.append((("keep_emails_of",), f"expected domains such as example.org, found {odd[0]!r}"))
    if faults:
        raise _Faults(*faults)
    return Redaction(tuple(patterns.items()), tuple(dict.fromkeys(one.casefold() for one in domains)))


def _pattern_faults(patterns: Mapping[object, object]) -> Iterator[_Fault]:
    for kind, text in patterns.items():
        keys = ("patterns", kind)
        if not isinstance(kind, str) or not _KIND.fullmatch(kind):
            yield keys, "expected a name of small letters, digits and `-`, such as ticket"
        if not isinstance(text, str):
            yield keys, f"expected a regular expression in quotes, found {text!r}"
            continue
        try:
            if re.compile(text).match(""):
                yield keys, f"{text!r} matches nothing at all: expected one that needs a letter or more"
        except re.error as error:
            yield keys, f"{text!r} is no regular expression of Python: {error}"


def _jobs(value: object, base: Path) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"expected a whole number of processes, 1 or more, found {value!r}")
    return value


def _flag(value: object, base: Path) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"expected true or false, found {value!r}")
    return value


def _language(value: object, base: Path) -> str:
    if value not in LANGUAGES:
        raise ValueError(f"expected one of {', '.join(LANGUAGES)}, found {value!r}")
    return str(value)


def _languages(value: object, base: Path) -> tuple[str, ...]:
    items = value if isinstance(value, list | tuple) else [value]
    return tuple(dict.fromkeys(_language(item, base) for item in items))


_READERS = {
    "runs": _folder,
    "home": _folder,
    "rules": _folders,
    "params": _params,
    "muted": _codes,
    "presets": _presets,
    "templates": _one_folder,
    "redact": _redact,
    "jobs": _jobs,
    "previews": _flag,
    "policy": _flag,
    "language": _language,
    "languages": _languages,
    "group_seeds": _flag,
    "title": _text,
}
