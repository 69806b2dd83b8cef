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
