"""Small word lists by language that tell where a sentence ends and where a phrase may be cut."""

from dataclasses import dataclass


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TITLES = _words(
    "mr mrs ms messrs mme mlle dr prof gen sen rep gov capt cpt lt sgt col cmdr maj adm rev hon fr mt ft st sr sra "
    "srta dott sig dra hr pres supt vs cf approx fig figs eq eqs vol nos ca bzw resp inkl evtl ggf vgl abb bsp sog "
    "dipl ing tel nr art al incl excl e.g i.e z.b d.h u.a v.a m.e o.ä p.ex c-à-d t.ex bv d.w.z т.е г-н г-жа"
)
"""Abbreviations that something always follows: their full stop does not end a sentence."""

TRAILING = _words(
    "jr sr inc ltd corp co bros llc plc gmbh dept est univ ave blvd rd ln hwy pkwy apt bldg min mins sec secs hr hrs "
    "lb lbs oz ft in no jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri sat sun a.k.a "
    "ph.d m.d b.a m.a u.s u.s.a u.k u.n d.c e.u n.y l.a b.c a.d st dr mt p.s str usw"
)
"""Abbreviations that may stand last: their full stop ends a sentence only if the next word can start one."""

NUMBERED = _words("no nos nr p pp fig eq sec ch vol art par jan feb mar apr jun jul aug sep sept oct nov dec núm pág")
"""Abbreviations whose full stop is followed by a number."""

CLOCK = _words("a.m p.m")
AFTER_CLOCK = _words(
    "monday tuesday wednesday thursday friday saturday sunday eastern pacific central mountain est edt pst pdt cst "
    "cdt mst gmt utc cet cest bst et pt ct january february march april may june july august september october "
    "november december"
)

STARTERS = _words(
    "the a an i we you he she it they this that these those there then but and so if when what where who how why "
    "which in on at for from with my our your his her its their please yes no also however maybe perhaps let let's "
    "i'm i'll i've we're we'll it's that's there's they're you're you'll he's she's do does did is are was were can "
    "could would will should have has not now here after before because once while although since as to by first "
    "second next finally thanks thank hello hi ok okay well just some all every each one many most another both der "
    "die das ein eine er sie es ich wir ihr dann danach aber und wenn le la les un une il elle nous vous je tu mais "
    "et puis ensuite ce cette el los las una ella yo nosotros pero y luego entonces este esta"
)
"""Words that, capitalised after an abbreviation, most likely start a new sentence."""

MONTHS_DE = _words("januar februar märz april mai juni juli august september oktober november dezember")

SCALES = _words(
    "hundred thousand million billion trillion percent dollars euros pounds cents degrees a.m p.m am pm a.m. p.m. km "
    "m cm mm kg g mg lb lbs oz ft mi ml l hz khz mhz ghz kb mb gb tb hours hour minutes minute seconds second days "
    "day years year o'clock"
)
"""Words that belong to the number before them."""


@dataclass(frozen=True, slots=True)
class Phrasing:
    """Where phrases break in one language.

    ``conjunctions`` (and relative pronouns) start a phrase after three words, ``prepositions`` after four;
    a unit never ends on one of ``leaning``, words that lean on the next one; ``objects`` are such words that may end
    a phrase when a preposition or conjunction follows ("help you | with that"); ``binding`` ones take a preposition
    with them ("look into").
    """

    conjunctions: frozenset[str]
    prepositions: frozenset[str]
    leaning: frozenset[str]
    objects: frozenset[str] = frozenset()
    binding: frozenset[str] = frozenset()


def _phrasing(
    conjunctions: str, prepositions: str, others: str, objects: str = "", binding: str = ""
) -> Phrasing:
    con, pre = _words(conjunctions), _words(prepositions)
    return Phrasing(con, pre, con | pre | _words(others), _words(objects), _words(binding))


PHRASING: dict[str, Phrasing] = {
    "en": _phrasing(
        "and but or so because although though while whereas if when whenever unless until since which who whom whose "
        "where nor yet",
        "in on at by for with from into through during between without within about over under after before against "
        "around across toward towards along among near inside outside behind beyond despite except like that",
        "the a an of to my your his her its our their this these those is are was were be been being am will would "
        "can could shall should may might must do does did have has had not no i we you he she it they very too as "
        "than what how why such each every some any more most both either neither just only also really quite let's "
        "i'm we're you're it's that's there's i'll we'll you'll i've we've i'd mr mrs ms dr st prof and/or up down "
        "out off don't doesn't didn't won't can't isn't aren't wasn't please there here",
        "you it her this these those both more most here there up down out off please",
        "look looks looking looked come comes came go goes going went get gets got put take takes took turn turned set "
        "pick find figure sign log check fill run give bring carry point deal depend depends rely wait ask asked "
        "pay paid search think talk talking speak listen care refer apply belong consist based due according",
    ),
    "de": _phrasing(
        "und aber oder weil obwohl während wenn als dass sondern denn damit falls bevor nachdem sobald ob",
        "in im an am auf aus bei beim mit nach von vom vor zu zum zur über unter für durch gegen ohne um zwischen "
        "seit",
        "der die das den dem des ein eine einen einem einer eines mein dein sein ihr unser euer kein keine ich du er "
        "sie es wir ist sind war waren wird werden hat haben nicht sehr zu so wie auch nur",
    ),
    "fr": _phrasing(
        "et mais ou donc car parce quand lorsque si puisque qui que où dont comme",
        "dans sur avec pour par sans sous chez vers entre pendant depuis après avant contre",
        "le la les l' un une des du de d' à au aux ce cet cette ces mon ma mes ton ta tes son sa ses notre nos votre "
        "vos leur leurs je tu il elle on nous vous ils elles ne pas est sont a ont très plus se en y",
    ),
    "es": _phrasing(
        "y e pero o u porque aunque cuando si mientras que donde quien sino pues",
        "en con por para sin sobre entre desde hasta hacia contra durante según tras",
        "el la los las lo un una unos unas de del al a mi tu su mis tus sus nuestro este esta ese esa yo él ella no "
        "se me te le es son está están muy más ha han",
    ),
    "it": _phrasing(
        "e ed ma o perché quando se mentre che dove chi però quindi anche",
        "in con per su tra fra senza da dal dalla nel nella sul sulla verso dopo prima",
        "il lo la i gli le un uno una di del della dei delle a al alla ai mio tuo suo questo quella non si è sono ha "
        "hanno molto più",
    ),
    "pt": _phrasing(
        "e mas ou porque quando se enquanto que onde quem embora pois",
        "em no na nos nas com por para sem sobre entre desde até contra durante pelo pela",
        "o a os as um uma de do da dos das ao à meu seu sua este esta não é são está muito mais eu ele ela se",
    ),
    "nl": _phrasing(
        "en maar of want omdat hoewel terwijl als wanneer dat die waar toen zodat",
        "in op aan met van voor door over onder bij naar uit tegen tussen zonder tijdens na",
        "de het een mijn jouw zijn haar ons deze dit ik je hij ze we is was zijn wordt niet zeer te er om",
    ),
}

NO_PHRASING = _phrasing("", "", "")
