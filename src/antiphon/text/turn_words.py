"""English words that tell whether a clause can end here."""


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _phrases(phrases: str) -> frozenset[str]:
    return frozenset(phrases.split("|"))


CANNOT_END = _set(
    "a an the my your our their his its and or but nor because although though unless until whereas while whether "
    "if than of into onto upon via per toward towards between among during without within against very too quite "
    "every each any some no such another other which whose who whom as i we they he she i'm i'll i'd i've we're "
    "we'll we've they're they've you're you'll you've he's she's he'll she'll there's it's it'll that's what's "
    "let's would could should might must gonna wanna gotta from at to"
)
"""After these something must come (in "what is it from" it need not: rare)."""

SELDOM_END = _set(
    "for with in on about by after before since over under through around near behind beside like that these "
    "those is are was were be been being am has have had do does did will shall can may don't doesn't didn't "
    "won't can't isn't aren't wasn't weren't just really also still even only more most so then when where how "
    "what why not almost nearly exactly basically maybe perhaps actually probably"
)
"""Something mostly comes after these."""

FILLERS = _set("um uh er erm uhm hmm hm mm eh ah")

NEEDS_OBJECT = _set(
    "want wants wanted need needs needed like likes love send sends sent give gives gave bring brings brought put "
    "puts book booking order ordering ordered get gets getting buy buying find finding make makes making made add "
    "adding take takes taking keep keeps keeping use using see seeing tell tells told say says said ask asks "
    "asked called named spelled thinks thought know hope guess mean means wondering looking including got has "
    "took saw found became seemed seems felt began begins trying tried going repair change cancel check hurt "
    "return contact reach visit describe explain prefer enter press choose select set meet"
)
"""Verbs that mostly take something after them."""

OPEN_ENDS = _phrases(
    "tell me|show me|let me|ask you|let you know|give me|would like|i'd like|so that|you know|i mean"
) | {
    f"{joins} {who}"
    for joins in ("if", "though", "although", "because", "whether", "unless", "until", "when", "while", "since")
    for who in ("you", "it")
}
"""Something comes after these, whatever their last word can do elsewhere: "as though you"."""

RELATIVES = _set("what that everything anything something nothing else all whatever which who whom than")
"""After these a verb may lack its object: "what he said"."""

ANSWERS = _phrases(
    "yes|yeah|yep|yup|no|nope|nah|okay|ok|sure|right|correct|exactly|absolutely|definitely|of course|maybe|perhaps|"
    "hello|hi|hey|good morning|good afternoon|good evening|good night|goodbye|good-bye|bye|bye bye|bye-bye|see you|"
    "thanks|thank you|"
    "please|yes please|no thanks|no thank you|that's right|that's correct|that's it|that's all|that's fine|"
    "that's great|sounds good|sounds great|i don't know|i do|i am|i'm not sure|not sure|not really|not yet|nothing|"
    "never mind|all right|alright|fine|great|perfect|excellent|cool|got it|i see|i understand|go ahead|help|"
    "cancel|repeat|next|one moment|sorry|excuse me|pardon|what|why|who|where|when|how|hi there|hello there|"
    "thanks bye|thank you bye|thank you very much|thanks a lot|okay great|okay thanks|okay thank you|yes it is|"
    "no it isn't|yes i do|no i don't|yes i am|yes that's right|uh huh|mhm|mm hmm|you're welcome"
)
"""Whole turns that are complete as they are."""

HALTS = _phrases(
    "stop|stop it|stop that|stop please|please stop|stop stop|stop stop stop|okay stop|no stop|wait please|please wait"
)
"""Who says only this wants silence, and says in a moment what else: nobody answers it."""

WISHES = _phrases(
    "i want to|i need to|i'd like to|i would like to|i wanted to|we want to|we need to|we'd like to|we would like to"
)
"""Polite imperatives: a verb and its object follow."""

COURTESIES = _phrases(
    "yes|yeah|yep|no|okay|ok|sure|right|great|perfect|excellent|lovely|wonderful|cool|fine|all right|alright|mhm|"
    "uh huh|hello|hi|hey|hi there|hello there|good morning|good afternoon|good evening|good night|goodbye|good-bye|"
    "bye|bye bye|bye-bye|see you|thanks|thanks a lot|thank you|thank you very much|thank you so much|please|"
    "you're welcome"
)
"""Several of these in a row are one."""

CLOSERS = _phrases(
    "please|thanks|thanks a lot|thanks so much|thank you|thank you very much|thank you so much|cheers|goodbye|good-bye|"
    "bye|bye-bye|see you|see you soon|see you then|see you later|see you tomorrow|have a nice day|have a good day|"
    "that's all|that is all|that's it|that is it|that's everything|that's right"
)

CORRECTIONS = _phrases(
    "no wait|wait|wait no|no|sorry|oh sorry|i'm sorry|no sorry|sorry no|i mean|actually|actually no|no actually|"
    "hang on|hold on|or rather|rather|scratch that|make that|let me see|let me think|one second|one moment"
)
"""What one says before one says it anew."""

SUBORDINATE = _set("if when whenever because although though unless while since once after before as until where")
"""A clause that begins with one of these wants a second clause."""

WH = _set("what what's where where's when who who's whose which why how how's")
INVERTED = _set(
    "is are was were am do does did can could will would shall should may have has had isn't aren't don't doesn't "
    "didn't can't couldn't won't wouldn't shouldn't haven't hasn't"
)
BEING = _set("is are was were am isn't aren't wasn't weren't been being")
SUBJECTS = _set("i you he she it we they there this that these those someone anyone everybody everyone")

OWN = _set("i i'm i've i'd i'll we we're we've we'd we'll my our mine ours")
"""Who speaks of their own affairs begins with one of these."""

DETERMINERS = _set("a an the this that these those my your our his her its their some any")

DIGITS = {
    "zero": 1, "oh": 1, "one": 1, "two": 1, "three": 1, "four": 1, "five": 1, "six": 1, "seven": 1, "eight": 1,
    "nine": 1, "ten": 2, "eleven": 2, "twelve": 2, "thirteen": 2, "fourteen": 2, "fifteen": 2, "sixteen": 2,
    "seventeen": 2, "eighteen": 2, "nineteen": 2, "twenty": 1, "thirty": 1, "forty": 1, "fifty": 1, "sixty": 1,
    "seventy": 1, "eighty": 1, "ninety": 1, "double": 1, "triple": 2, "hundred": 2,
}  # fmt: skip
"""How many digits of a number that is being dictated a word stands for."""

NUMBER_CUES = _set(
    "number phone mobile telephone cell code postcode zip pin account card reference reach call ring order "
    "tracking confirmation extension serial policy id dial ends starts digits"
)
EMAIL_CUES = _set("email e-mail mail @ dot underscore")
SPELLING_CUES = _set("spelled spelt spell spelling")
ADDRESS_JOINTS = _set("at dot underscore dash hyphen @ slash")
DOMAINS = _set("com org net edu gov io uk de fr eu info co")

VERBS = _set(
    "is are was were am be been do does did have has had will would can could shall should may might must i'm "
    "i'll i'd i've it's that's there's you're we're they're he's she's we'll you'll they'll it'll don't doesn't "
    "didn't won't can't isn't aren't wasn't let's what's where's who's how's let go goes went gone come comes "
    "came get gets got make makes made take takes took give gives gave want wants need needs like likes know "
    "knows knew think thinks thought say says said see sees saw find finds found tell tells told ask asks call "
    "calls try tries keep keeps kept put puts set sets turn turns show shows play plays run runs book books order "
    "orders send sends sent bring brings leave leaves left pay pays buy buys hurt cancel cancels change changes "
    "move moves speak speaks talk talks help helps open opens close closes start starts stop stops remind reminds "
    "transfer wait waits work works stay stays feel feels felt seem seems look looks hear hears heard hold holds "
    "held stand stands stood write writes wrote read meet meets met sit sits sat lose loses lost forget forgets "
    "forgot mean means meant become became began begin begins fell fall falls rise rose rises press enter check "
    "hang dial choose select drop glue ended ring remember thank please add ran broke spoke drew grew threw shook "
    "bore rang sang drank"
)
"""Without one of these, or a word in -ed, a clause is hardly one."""

REQUESTS = _set(
    "turn set play tell show send cancel call add remind book open close stop start give find make put take help "
    "order change check move transfer let read write delete remove schedule switch dim lock unlock skip repeat "
    "press hold hang wait look keep bring connect enter drop dial choose select leave say try"
)
"""A clause that begins with one of these asks for something to be done."""

ADVERBIALS = _set(
    "today tonight tomorrow yesterday now yet already here again instead too anyway ago away weekend week month "
    "year morning afternoon evening night noon midnight o'clock pm monday tuesday wednesday thursday friday "
    "saturday sunday myself yourself together though either else nearby soon later tomorrow's everything anything "
    "nothing"
)
"""Words that often are the last of a clause."""
