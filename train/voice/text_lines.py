"""Everyday words, names, numbers, replies and the clauses of long sentences, as templates (see ``text_turns.py``)."""

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
