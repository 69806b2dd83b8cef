"""Building blocks of the generated texts: what a voice agent says, in clauses with one-word slots.

Words are chosen so that a recogniser has no spelling to guess (no homophones, no rare names): an error that it makes
is an error of the voice or of its own hearing, not of spelling.
"""

SLOTS: dict[str, tuple[str, ...]] = {
    slot: tuple(filler.strip() for filler in fillers.split(","))
    for slot, fillers in {
        "name": "Daniel, Laura, Peter, Maria, Thomas, Helen, David, Oliver, Julia, Robert, Susan, Richard, Martha, "
        "Henry, Rachel, Edward, Sophia, Walter, Angela, Adam, Victoria, Samuel, Diana, Patrick",
        "city": "Boston, Chicago, London, Berlin, Toronto, Paris, Dublin, Denver, Vienna, Madrid, Seattle, Dallas, "
        "Oxford, Amsterdam, Helsinki, Stockholm",
        "day": "Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday",
        "month": "January, February, March, April, June, July, August, September, October, November",
        "part": "morning, afternoon, evening",
        "number": "three, five, six, seven, nine, ten, eleven, twelve, fourteen, fifteen, twenty, thirty",
        "item": "package, ticket, camera, guitar, printer, blanket, lamp, keyboard, jacket, bicycle, suitcase, "
        "notebook, kettle, speaker, tablet, helmet",
        "place": "hotel, museum, library, airport, station, hospital, theater, garden, office, market, bakery, "
        "harbor, stadium, castle",
        "food": "salad, pizza, bread, tomato soup, pasta, chicken, coffee, honey, rice, cheese",
        "color": "yellow, green, silver, orange, purple, brown, black",
        "adverb": "quickly, carefully, quietly, slowly, gladly, finally, usually",
        "reason": "storm, repair, holiday, strike, festival, accident, inspection",
        "team": "support, delivery, kitchen, travel, repair, sales",
    }.items()
}
"""Slot name -> fillers. Two-word fillers are allowed: sentences are counted after filling."""

LEADS: tuple[str, ...] = (
    "Thanks for waiting, {name},",
    "Good {part}, {name},",
    "All right,",
    "I am sorry about that,",
    "Just one moment,",
    "As you asked,",
    "Because of the {reason} in {city},",
    "If you agree,",
    "After the {reason} on {day},",
    "Let me repeat that,",
    "According to my notes,",
    "Before I forget,",
    "In that case,",
    "Since you called last {day},",
    "Unfortunately,",
    "When I talked to {name} this {part},",
    "For your trip to {city},",
    "To make it easier for you,",
)
"""How a long sentence may begin: an opening with a comma."""

CORES: tuple[str, ...] = (
    "the {color} {item} that you ordered in {month} will leave our {place} on {day} {part}",
    "your table for {number} people is booked for {day} at {number} in the {part}",
    "I have moved your appointment with Doctor {name} to the {part} of the next {day}",
    "the train to {city} leaves from platform {number} and arrives there in the early {part}",
    "we can send a technician to the {place} in {city} within the next {number} days",
    "the {team} team has looked at your question about the {color} {item}",
    "the price of the {item} went up by {number} dollars at the end of {month}",
    "your refund of {number} hundred dollars was sent to the bank in {city} last {day}",
    "I can offer you a quiet room near the {place} for {number} nights in {month}",
    "the {place} in {city} is closed on {day} because of the {reason}",
    "you should bring the {color} {item} and your passport to the {place} on {day}",
    "we found {number} open orders and one {color} {item} under the name of {name}",
    "the new {item} comes with a warranty of {number} months and a {color} case",
    "my colleague {name} from the {team} team will {adverb} check the {item} for you",
    "our {place} serves {food} and fresh {food} every {part} until {number}",
    "there are still {number} seats on the flight to {city} next {day}",
)
"""The main clause."""

TAILS: tuple[str, ...] = (
    "and you will get a short message before we arrive",
    "so please keep your phone close to you",
    "which is about {number} minutes by car from the {place}",
    "but you can still change it until {day}",
    "unless you would rather wait until {month}",
    "and there is nothing else that you need to do",
    "because the old one was damaged on the way",
    "if that works for you",
    "and {name} will meet you there",
    "but I would like to check one more thing with {name} first",
    "so that nobody has to wait in the rain",
    "and breakfast is included",
    "while we look for a better answer",
    "and I have already told {name} about it",
    "although the weather in {city} does not look very good",
    "and the rest is free",
)
"""How a long sentence may end."""

SHORT: tuple[str, ...] = (
    "Your {item} is ready, {name}.",
    "The {place} opens on {day}.",
    "I will call {name} again.",
    "We have {number} tables left.",
    "Please bring the {color} {item}.",
    "Would you like some {food}?",
    "The {item} costs {number} dollars.",
    "{name} lives near the {place}.",
    "Is the {item} still available?",
    "Let us meet on {day}.",
    "The train leaves from {city}.",
    "It arrives in {number} days.",
)
"""Sentences that come to five words when every slot is one word."""

OPENERS: tuple[str, ...] = (
    "Of course, {name}.",
    "Thank you for your patience.",
    "I have good news for you.",
    "Let me look into that.",
    "Sure, I can help you with the {item}.",
    "That is a good question.",
    "I found your order.",
    "Yes, the {place} is open today.",
)
"""First sentences of an answer."""

CLOSERS: tuple[str, ...] = (
    "Is there anything else I can do for you?",
    "Would {day} {part} suit you better?",
    "Please tell me if you would like to change it.",
    "Shall I send the details to your phone?",
    "Do you want me to book it now?",
    "Just say yes, and I will take care of it.",
)
"""Last sentences of an answer."""

MIXED: tuple[str, ...] = (
    "Your appointment is on {month} {dom}, {year}, at {hour}:{minute} {ampm}.",
    "The total for order {order} is ${dollars}.{cents}, and {percent}% of that is tax.",
    "Please call us at 555-{four} before {hour} {ampm} on {day}.",
    "Flight {letters} {three} to {city} leaves gate {gate} at {hour}:{minute} {ampm}.",
    "We shipped {count} boxes, about {weight} kg, to {dom} Market Street in {city} on {mm}/{dom}/{year}.",
    "Dr. {name} can see you on {day}, {month} {ordinal}, at {hour} o'clock.",
    "The temperature in {city} will reach {degrees} degrees, with a {percent}% chance of rain.",
    "Your balance was ${thousands},{three} on {month} {ordinal}, and ${dollars}.{cents} today.",
    "Version {gate}.{dom} needs {count} MB of memory and runs {decimal} times faster.",
    "The match ended {gate} to {dom} in front of {thousands},{three} people.",
)
"""Numbers, dates, money, codes: what a voice has to normalise."""
