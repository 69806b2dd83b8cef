"""What a voice agent says, as templates: ``{slot}`` is dealt from a deck, ``[a|b|c]`` is a choice (not nested)."""

# ruff: noqa: SIM905  # lists of words are easier to read as text

AGENT = """
Your {thing} [has been|was] shipped [today|yesterday|this morning] and [should|will] arrive on {day}.
I have found your order for [the|one|your] {adj} {thing}, and it is [still being packed|on its way|ready to collect].
[Unfortunately|I'm afraid], the {thing} you asked for is [out of stock|sold out] until {month}.
I can offer you {a_thing} instead, which is [slightly cheaper|a little larger|just as good].
We will refund the full amount to your card within {count} business days.
Your refund of {money} was sent to your bank on {date}.
[Thanks|Thank you] for your patience, {first}. I have [good|some] news about your {thing}.
The delivery driver could not find [the entrance|your building|anyone at home], so the {thing} went back to the depot.
Please keep the {thing} in its original box until [our driver|the courier] has collected it.
[Let me|I'll just] check whether the {color} one is available in your size.
We have it in {color}, {color}, and {color}.
Your basket holds {count} items, and the total comes to {money}.
If you order before {clock}, we can deliver it [tomorrow|by {day}|within {count} hours].
I've added [two|three|a dozen] {things} to your order.
The gift card has been used, and there is {money} left on it.
I have booked you in with Doctor {last} for {day} at {clock}.
[The earliest|Our next] appointment is on {date} at {clock}.
Doctor {last} is [away|on leave|in surgery] until {day}, but Doctor {last} can see you sooner.
Please arrive [ten|fifteen|twenty] minutes early and bring your insurance card.
Your appointment with {first} has been moved from {clock} to {clock}.
[Please don't|You should not] eat or drink anything for {count} hours before the test.
I'm sorry to hear that you are not feeling well, {first}.
Take one tablet [twice|three times] a day, with food, for {count} days.
Your prescription is ready at the pharmacy on {street}.
The nurse will call you back [this afternoon|before noon|within the hour].
If the pain gets worse, please [call us at once|go to the nearest hospital].
Your blood results are [normal|back from the laboratory], and the doctor would like to discuss them on {day}.
The balance of your {account} account is {money}.
A payment of {money} to {company} is [pending|due on {day}|scheduled for {date}].
I have blocked your card, and a new one will reach you within {count} days.
For your security, please tell me the last four digits of your card number.
I can see a charge of {money} from {company} on {date}.
Your loan application has been [approved|forwarded to our specialist|received].
The interest rate on that account is {percent} a year.
We never ask for your password on the phone.
You can raise your daily limit [in the app|at any branch|by calling us].
The transfer to {first} {last} will take [one|two|three] working days.
Your flight to {city} leaves from gate {small} at {clock}.
The flight from {city} is delayed by [about|roughly] {small} minutes because of [fog|heavy snow|strong winds|a storm].
I can put you on the next train to {city}, which leaves at {clock}.
There are [only|still] {count} seats left on the {part} flight to {city}.
Would you prefer [a window seat or an aisle seat|the early train or the late one|a double room or two singles]?
Your room at the {company} Hotel is booked for {count} nights, from {date}.
Breakfast is served from six thirty to {clock} on the [ground|first|second|top] floor.
Checkout is at {clock}, but you may leave your bags at the desk.
You will change trains in {city} and arrive in {city} at {clock}.
The taxi will wait for you outside [the main entrance|terminal two|the station].
Your passport must be valid for at least six months after your stay in {city}.
The road to {city} is closed, so please allow an extra [half hour|hour].
Let's try restarting the {device} first.
Please hold the power button for {count} seconds, and then let go.
Is the light on the {device} [green|red|blinking|off]?
I will send a reset link to the email address on your account.
The {device} needs an update, which takes about {count} minutes.
There is an outage in {city}, and our engineers expect to fix it by {clock}.
Could you read me the serial number on the back of the {device}?
[It looks like|It seems that] the {device} is not connected to the network.
Please unplug the {device}, wait a moment, and plug it in again.
I am transferring you to [our billing team|a technician|my colleague {first}]. Please stay on the line.
I've opened a ticket for you, and you will hear from us by {day}.
Your table for {count} is reserved for {clock} under the name {last}.
The kitchen closes at {clock}, but the bar stays open until midnight.
The {dish} comes with [rice|salad|fries|bread], and the {dish} is vegetarian.
Would you like [anything to drink|a side dish|some dessert] with your {dish}?
So that's one {dish}, two {dish_pl}, and {a_thing}. [Is that right|Anything else]?
Your order will be at your door in about {small} minutes.
I'm sorry, we are fully booked on {day}, but I have a table at {clock} on {day}.
Please tell the chef about any allergies, especially to [nuts|milk|shellfish|eggs].
[Good morning|Good afternoon|Good evening|Hello], {company}, {first} speaking. How can I help you?
[Welcome back|Nice to hear from you again], {title} {last}.
Before we go on, may I have your [full name|date of birth|postal code|account number]?
[Sorry|I'm sorry], I didn't catch that. Could you say it once more?
I understand. Let me see what I can do for you.
One moment please, I'm looking that up.
[Great|Perfect|Wonderful|Excellent], I have everything I need.
Is there anything else I can do for you [today|this {part}]?
Thank you for calling {company}. Have a [lovely|good|pleasant] {part}!
I have sent a confirmation to your [phone|email address|home address].
Just to confirm, you would like to [cancel|change|move|keep] your [booking|subscription|appointment|order].
Your contract runs until {date}, and you can cancel it [at any time|with {count} weeks' notice].
Our office is open from {clock} to {clock}, [Monday to Friday|every day except Sunday].
The technician will be with you between {clock} and {clock} on {day}.
The warranty covers the {device} for {count} years, but not [water damage|the battery|broken glass].
We'd love to hear how we did today. It takes less than a minute.
The parking garage is on {street}, right across from the {place}.
Turn [left|right] at the {place}, go straight for {count} blocks, and it is on your [left|right].
The {place} opens at {clock} and admission is {money}.
The lights in the [kitchen|bedroom|hallway|garage] are now off.
I've set the temperature to {small} degrees.
Your alarm is set for {clock}.
It will be [cloudy|sunny|rainy|windy|foggy] in {city} this {part}, with a high of {small} degrees.
You have {count} new messages, and the first is from {first} {last}.
Your {adj} {thing} was returned because the [address was incomplete|label was damaged|box was open].
Here is what I found about {adj} {things} near {city}.
The class with {first} starts on {date} and costs {money}.
Your library books are due on {day}. Shall I renew them?
We have received the photos of the {thing}, and your claim number is {digits}.
Your policy covers [theft|fire|storm damage|lost luggage] up to {money}.
Please sign the form, scan both pages, and send them to our {city} office.
The apartment on {street} has [two|three|four] bedrooms, and the rent is {money} a month.
I'm afraid the offer ended on {date}, but I can give you {percent} off.
Your meeting with {first} and {first} is at {clock} in the {adj} room on the {ordinal} floor.
The bus stops running at {clock}, so you may want to take a cab.
[Absolutely|Certainly|Of course|Sure], I can [repeat that|do that for you|send it again].
No problem at all. I've changed the name on the booking to {first} {last}.
That {thing} belongs to our {adj} collection, and it costs {money}.
The {device} you returned was tested, and we found nothing wrong with it.
I would recommend the {adj} {thing}, because it is easier to [clean|carry|use|repair].
""".strip().splitlines()

QUESTION = """
Do you [have|sell|repair|deliver] {adj} {things}?
[Where|When|Why] did you {verb} the {noun}?
How [much|long|far|often] is that in {city}?
What is the {adj} {noun} [made of|used for|called]?
Who [wrote|sent|told you|asked] about the {noun}?
Could you [please|possibly|just] {verb} the {noun} for me?
Would you like to {verb} it [now|later|on {day}|tomorrow]?
Is the {noun} {adv} {adj}?
Are the {nouns} still in the {place}?
Can I {verb} {a_noun} without {a_noun}?
[Have|Had] you ever {verbed} {a_noun}?
Which {noun} do you mean, the {adj} one or the {adj} one?
What time does the {place} [open|close] on {day}?
Did {first} {verb} the {noun} [yesterday|last {day}|again]?
How many {nouns} [are there|do we need|did you count]?
Why is the {noun} so {adj}?
Shall we meet at the {place} at {clock}?
Isn't that the {adj} {noun} from {city}?
You {verbed} the {noun}, didn't you?
May I ask what happened to the {noun}?
Does {first} know about the {adj} {noun}?
Should I {verb} the {noun} or the {noun} first?
What would happen if we {verbed} the {noun}?
Will the {nouns} be ready by {clock}?
When was the last time you {verbed} {a_noun}?
Am I speaking with {first} {last}?
Are you sure that {first} {verbed} the {noun}?
So you want to {verb} the {noun}, is that right?
Whose {noun} is [this|that]?
Where can I find {a_adj_noun} in {city}?
How did {first} {verb} such {a_adj_noun}?
Was it {first} or {first} who {verbed} the {noun}?
""".strip().splitlines()

WORDS = """
The {adj} {noun} {verbed} the {noun}.
{first} {verbed} the {noun} {adv}.
{a_adj_noun} is better than {a_noun}.
We {adv} {verb} our {nouns} in {month}.
They were {verbing} the {adj} {nouns} near the {place}.
It was {a_adj_noun}, not {a_noun}.
My {noun} {verbs} every {noun} in the {place}.
She {verbed} the {noun}, the {noun}, and the {noun}.
The {noun} of the {noun} is {adv} {adj}.
He will {verb} {a_noun} with the {adj} {noun}.
{adv} {verbing} the {noun}, {first} found {a_noun}.
The {nouns} and the {nouns} {verbed} each other.
No {noun} can {verb} such {a_adj_noun}.
There is {a_noun} in the {noun}, and it looks {adj}.
Both {nouns} are {adj}, but the {noun} is {adj}.
If the {noun} is {adj}, {verb} the {noun}.
{first} and {first} {verbed} {a_noun} on {day}.
The {noun}'s {noun} was {adj}.
I have never seen {a_adj_noun} like this.
Every {noun} needs {a_noun}.
Please {verb} the {noun} {adv}.
The {adj}, {adj} {noun} {verbs} the {noun}.
Without {a_noun}, the {noun} becomes {adj}.
What {a_adj_noun} that is!
They had {verbed} the {noun} before the {noun} was {adj}.
Our {noun} was {adj}; theirs was {adj}.
He said: {verb} the {noun}.
Half of the {nouns} were {adj} — the rest were {adj}.
Nobody {verbed} the {noun} because of the {adj} {noun}.
{adv}, the {noun} {verbed} {a_noun} again.
I'd have {verbed} it myself if you'd asked me.
They're saying that he'll {verb} them again soon.
We've {verbed} him, but she hasn't {verbed} us.
You shouldn't {verb} that, and neither should I.
It wasn't yours, it was ours, so give it back to them.
That'll do for now, but let's {verb} the rest on {day}.
I couldn't {verb} it any better than this.
She'd rather {verb} the {noun} than go there with you.
Those who {verb} {nouns} don't often {verb} {nouns}.
Don't you think that's a bit too {adj}?
I wouldn't call it {adj}, just {adj}.
It's been raining since yesterday, hasn't it?
Whatever you do, don't {verb} the {noun}.
One of these is {adj}, and the others aren't.
Each of us got something {adj} from either of them.
We'll be there as soon as we can, so please wait for us.
You're welcome to {verb} anything that isn't {adj}.
There's more to this {noun} than you'd think.
Once upon a time there was {a_adj_noun} who {verbed} everything.
Either he {verbs} it through the {noun}, or he goes around.
Somebody must have left it underneath the {noun}, behind those {nouns}.
Should anything happen, {verb} me at once.
The more you {verb}, the less {adj} it is.
Neither the {noun} nor the {noun} was theirs.
What's done is done; let's not {verb} it.
Although I like this one, I'd choose the other.
How {adj}! I thought you'd {verbed} it already.
This is mine, that is yours, and these are everybody's.
The {noun}... well, the {noun} was {adj}.
Yes, I did {verb} it, twice in fact, and I enjoyed both times.
""".strip().splitlines()

NAME = """
My name is {first} {last}.
This is {title} {last} from {company}.
{first} {last} lives at {small} {street} in {city}.
Please put me through to {first} in the {city} office.
I met {first} and {first} {last} in {city} last {month}.
The meeting is with {title} {last} and {title} {last}.
Is {last} spelled {spelled_last}?
That's {spelled_first}, {first}.
{first} {last}, {first} {last}, and {first} {last} are on the list.
{city}, {city}, and {city}.
From {city} we drove through {proper} and {proper} to {city}.
The package for {first} {last} goes to {street}, {city}.
{proper} is [far|not far] from {proper}.
Have you met {first} {last} from {company}?
{title} {last} has worked for {company} since {year}.
The letter was signed by {first} {last} of {proper}.
I'd like a ticket from {city} to {city}, for {first} {last}.
Is it {first} with {a_letter}, or {first}?
Ask for {last}, {first} {last}.
{proper}, {proper}, or {proper}?
{first}'s sister {first} married {title} {last}.
The {company} building is on the corner of {street} and {street}.
Dear {title} {last}, thank you for your letter about {proper}.
{first} from {city} called about {proper}.
""".strip().splitlines()

NUMBER = """
The total is {money}.
That comes to {money}, including {percent} tax.
{number}.
{money}.
{clock}.
{date}.
{percent}.
{measure}.
{phone}.
{digits}.
{code}.
{letters}.
{number}, {number}, and {number}.
Your number is {phone}.
You can reach us at {phone}.
The code is {code}.
Your booking reference is {code}.
The order number is {digits}.
Please write down {digits}.
That's {as_in}.
It is spelled {spelled_noun}.
{spelled_noun} spells {noun}.
Flight {letters} {small} leaves at {clock}.
We opened on {date}, at {clock}.
She was born on {date}.
In {year}, there were {number} people in {city}.
The distance is {measure}, or about {measure}.
It weighs {measure} and costs {money}.
Prices rose by {percent} in {month} and by {percent} in {month}.
Pick a number between {small} and {number}.
{small} plus {small} is not {small}.
About {fraction} of the {number} {nouns} were {adj}.
He finished {ordinal}, {measure} behind the winner.
It happened in {year}, not in {year}.
Room {small}, floor {count}, building {a_letter}.
From {clock} to {clock} on {day}.
Gate {a_letter} {small}, seat {small} {a_letter}.
Your account ending in {digits} was charged {money}.
You owe {money}, due on {date}.
Take bus {small} at {clock} and get off after {count} stops.
The temperature is minus {small} degrees, and it feels like {small}.
Version {small} point {small} was released on {date}.
Press {count} for sales, or {count} for support.
The score was {small} to {small}.
Call extension {digits} after {clock}.
It was the {ordinal} of {month}, {year}.
{number} divided by {count} leaves {count}.
""".strip().splitlines()

REPLIES = """
Yes. No. Okay. Sure. Thanks. Thank you. Hello. Hi. Hello? Goodbye. Bye. Right. Exactly. Maybe. Perhaps. Really?
Great. Good. Perfect. Fine. Please. Sorry. Sorry? What? Why? When? Where? Who? How? Which one? Never. Always.
Today. Tomorrow. Tonight. Now. Later. Again. Stop. Wait. Help. Go. Left. Right here. Correct. Wrong. True. False.
Enough. Nothing. Something. Someone. Nobody. Everyone. Here. There. Yes, please. No, thanks. Not yet. Not now. Of
course. Of course not. All right. All done. One moment. Just a second. Got it. I see. I do. I don't. I know. I
think so. I hope so. That's right. That's all. That's wrong. Never mind. No problem. Good morning. Good evening.
Good night. Good afternoon. See you soon. Take care. Well done. Come in. Go ahead. Hold on. Hang on. Let's go.
Let's see. Me too. So what? What else? Who's there? How come? How much? How many? How long? What time? Which way?
Are you sure? Is it? Was it? Did you? Can you? Will you? Absolutely. Certainly. Definitely. Probably. Possibly.
Indeed. Wow! Oh! Oops! Hooray! Help! Stop! Look! Listen. Congratulations! Happy birthday! Welcome. Welcome back.
Cheers. Excuse me. Pardon? My pleasure. Anytime. Speaking. Ready. Done. Sounds good. Why not? If you like. As you
wish. Very well. Too bad. So far. On time. In time. At once. Right away. By mail. By Friday. Twice. Once more. Half
past. Midnight. Noon.
""".replace("\n", " ").strip()

SHORT = """
{noun}.
{noun}.
{noun}.
{noun}?
{adj}.
{adj}!
{adv}.
{verb}.
{verbing}.
{nouns}.
{first}.
{last}.
{first}?
{city}.
{city}?
{proper}.
{first} {last}.
{adj} {noun}.
{adj} {nouns}.
{noun} and {noun}.
{verb} it.
{verbed} {adv}.
{day}.
{month}.
{count}.
{small}.
{ordinal}.
{a_letter}.
The {noun}.
The {adj} {noun}.
{a_noun}?
My {noun}.
Two {nouns}.
Next {day}.
In {month}.
To {city}.
{color}.
Doctor {last}.
""".strip().splitlines()

CLAUSES = """
the {adj} {noun} that we {verbed} in {month} is still waiting at the {place}
{first} {verbed} the {nouns} before anyone could {verb} the {noun}
our {city} office will {verb} the {adj} {thing} by {day} {part}
nobody at the {place} had {verbed} {a_noun} since {year}
you can {verb} the {noun} [in the app|on our website|at the desk] until {clock}
the {noun} between {city} and {city} was {adv} {adj}
{title} {last} asked us to {verb} every {noun} on the {ordinal} floor
a payment of {money} was made to {company} on {date}
the {device} [stopped|started] working when {first} {verbed} the {noun}
they were {verbing} {a_adj_noun} and two {nouns}
it takes about {measure} to {verb} the {noun}
I would {adv} {verb} the {noun} with {a_noun}
we have {count} {adj} {nouns} and one {noun} left
the road along the {noun} leads to {a_adj_noun}
her {noun} was full of {nouns}, {nouns}, and {adj} {nouns}
the price of the {thing} went from {money} to {money}
a {color} {noun} {verbed} slowly across the {place}
""".strip().splitlines()

OPENERS = """
As you may have noticed,
According to {first} {last},
After we had {verbed} the {noun},
If you [want|need|prefer] it sooner,
Because of the {adj} {noun} in {city},
On {date},
Although the {noun} was {adj},
When {first} called from {city} this {part},
As far as I know,
Since there was no {noun},
To be honest,
Before you {verb} the {noun},
Ever since {year},
""".strip().splitlines()

JOINS = [
    ", and ", ", but ", ", so ", ", because ", ", although ", ", while ", ", which is why ", " before ", " after ",
    "; ", ", whereas ", ", or else ", ", even though ", ": ", " — ", " unless ", ", since ",
]  # fmt: skip

THINGS = (
    "jacket, sweater, raincoat, pair of boots, backpack, suitcase, wallet, umbrella, watch, necklace, bracelet, "
    "lamp, armchair, sofa, bookshelf, mirror, carpet, curtain, pillow, blanket, mattress, kettle, toaster, blender, "
    "frying pan, teapot, knife set, coffee grinder, dishwasher, vacuum cleaner, heater, fan, drill, ladder, "
    "toolbox, paint roller, garden hose, lawn mower, flower pot, bicycle, helmet, tent, sleeping bag, fishing rod, "
    "tennis racket, football, guitar, violin, keyboard, drum kit, microphone, headset, camera, tripod, telescope, "
    "notebook, fountain pen, calendar, puzzle, board game, toy train, teddy bear, stroller, car seat, dog collar, "
    "bird cage, aquarium, picture frame, candle, vase, clock, scarf, belt, hat, pair of gloves, swimsuit, bathrobe, "
    "towel, hair dryer, razor, toothbrush, perfume, sunscreen, first aid kit, thermometer, wheelchair, hearing aid, "
    "pair of glasses"
).split(", ")
DEVICES = (
    "router, modem, printer, laptop, tablet, phone, television, speaker, thermostat, doorbell, washing machine, "
    "charger, headset, scanner, monitor, keyboard, smoke detector, security camera, dishwasher, game console, "
    "e-reader, set-top box, heater, fridge, oven, projector, smart watch, hard drive"
).split(", ")
DISHES = (
    "tomato soup, mushroom risotto, chicken curry, grilled salmon, Greek salad, vegetable lasagna, cheeseburger, "
    "spinach pie, beef stew, fish taco, pad thai, ramen bowl, lentil soup, pepperoni pizza, club sandwich, omelet, "
    "roast duck, pumpkin ravioli, apple tart, chocolate cake, lemon sorbet, shrimp cocktail, falafel wrap, caesar "
    "salad, onion soup, pork chop, bean burrito, noodle salad, blueberry pancake, goat cheese salad"
).split(", ")
PLACES = (
    "library, museum, station, airport, harbor, castle, stadium, theater, market, bakery, pharmacy, post office, "
    "town hall, church, school, university, hospital, bank, hotel, restaurant, cinema, gallery, gym, swimming pool, "
    "park, zoo, garden center, supermarket, gas station, police station, fire station, bridge, tower, square, ferry "
    "terminal, warehouse, laboratory, workshop, farm, lighthouse"
).split(", ")
COLORS = (
    "red, blue, green, yellow, orange, purple, pink, brown, black, white, gray, silver, gold, beige, navy, turquoise"
).split(", ")
ACCOUNTS = "checking, savings, joint, business, student, travel, investment".split(", ")
