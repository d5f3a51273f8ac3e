# SPDX-License-Identifier: Apache-2.0
"""The intents of media, cleaning, kitchen, clocks, scenes and questions, and what is no command at all."""
from grammar import APPLIANCES, DEVICES, DOORS, INTENTS, SWITCHED, _intent

MORE_INTENTS = [
    _intent("play", None, "music", 3, """
play [some] music{in}
put on [some] music{in}
(start|resume|continue) the music{in}
turn on [some] music{in}
put some music on{in}
turn the music on{in}
!(i want|i'd like) [to hear] [some] music{in}
!let's (hear|have) some music{in}
V:!i'd like to listen to [some] music{in}
!i want to listen to [some] music{in}
T:get some music (on|going){in}
T:!let's listen to [some] music{in}
T:go ahead and play some music{in}"""),
    _intent("play", "genre", "music", 4, """
play [some] {value} [music]{in}
put on [some] {value} [music]{in}
put some {value} on{in}
turn on [some] {value} music{in}
!(i want|i'd like) [to hear] [some] {value}{in}
!i want to listen to [some] {value} [music]{in}
!let's (hear|have) some {value} [music]{in}
V:!i'd like to listen to [some] {value} music{in}
T:get some {value} (on|going){in}
T:!let's listen to [some] {value} [music]{in}
T:go ahead and play some {value} music{in}"""),
    _intent("pause", None, "music music tv vacuum radio", 3, """
pause {np}
(hold|freeze) {np}
put {np} on pause
!i want {np} paused
have {np} paused
pause {np} (for a moment|for now)
V:go ahead and pause {np}
T:get {np} paused
T:hold {np} (for a moment|for now)"""),
    _intent("stop", None, ["music", "music", "vacuum", "vacuum"] + APPLIANCES, 4, """
stop {np}
(end|halt|quit) {np}
turn off {np}
turn {np} off
(switch|shut) {np} off
switch off {np}
make {np} stop
!{np} off
!(i want|i need) {np} off
have {np} (stopped|turned off)
?i don't want {np} (anymore|any more)
V:go ahead and stop {np}
V:!i'd like {np} to stop
T:get {np} to stop
T:get {np} to halt
T:!{np} should stop"""),
    _intent("next", None, "music radio tv", 2, """
(skip to the|play the|go to the) next (song|track|station|channel) on {np}
(skip|next) (song|track) on {np}
skip this (song|track) on {np}
!next (song|station|channel) on {np}
V:go ahead and skip this song on {np}
T:put on the next (song|track|station|channel) on {np}"""),
    _intent("previous", None, "music radio tv", 2, """
(go back to|play|go to) the (previous|last) (song|track|station|channel) on {np}
!(previous|last) (song|track|station|channel) on {np}
play the last (song|track) again on {np}
V:go ahead and play the previous song on {np}
T:put on the (previous|last) (song|track|station|channel) on {np}"""),
    _intent("start", None, ["vacuum", "vacuum", "vacuum"] + APPLIANCES, 5, """
start {np}
(run|launch) {np}
turn on {np}
turn {np} on
switch on {np}
switch {np} on
get {np} (going|running)
have {np} (start|run)
(start|set) {np} (running|going)
!(i want|i need) {np} (running|on)
go ahead and start {np}
!{np} on
V:go ahead and run {np}
V:make {np} run
T:get {np} to (start|run)
T:!{np} should (start|run)
T:!let's (start|run) {np}"""),
    _intent("start", None, "_vacuum", 5, """
(vacuum|hoover) {room}
vacuum the floor{in}
(clean|sweep) the floor{in}
(clean|vacuum) up{in}
?{room} needs (vacuuming|cleaning|a clean)
?the floor{in} is (dirty|dusty)
send the (vacuum|robot|hoover) to {room}
have the (vacuum|robot) clean {room}
let the (robot|vacuum) clean {room}
go ahead and vacuum {room}
?{room} is (dirty|dusty)
V:have {room} vacuumed
!i want {room} vacuumed
V:have the (hoover|robot) sweep {room}
T:get the (vacuum|robot) to clean {room}
T:?the floor{in} needs (cleaning|vacuuming|a clean)
T:let the (robot|hoover) (vacuum|sweep) {room}"""),
    _intent("dock", None, "vacuum", 2, """
(dock|park) {np}
send {np} [back] home
send {np} back to (its|the) (base|dock|station)
(bring|return) {np} to (its|the) (base|dock|station)
have {np} (go home|return to its base)
!{np} should go [back] home
V:have {np} go back to its (base|dock)
T:get {np} back to (its|the) (base|dock)
T:bring {np} [back] home"""),
    _intent("set", "temperature", "oven", 4, """
(preheat|heat) {np} to {value}
(set|turn|adjust|put) {np} to {value}
heat up {np} to {value}
get {np} to {value}
(warm|bring) {np} up to {value}
!{np} (to|at) {value}
!(i want|i need) {np} at {value}
have {np} at {value}
set the temperature of {np} to {value}
turn on {np} at {value}
V:warm up {np} to {value}
T:get {np} up to {value}
T:set {np} at {value}
T:!we need {np} at {value}"""),
    _intent("on", None, "_coffee_machine", 2, """
(make|brew) [me] [some|a cup of] coffee
(make|brew) [me] a coffee
(get|start) [the|some] coffee (going|brewing)
!(i want|i need|i'd like) [a|some] coffee
have [a|some] coffee ready
!time for [a|some] coffee
V:start brewing [some] coffee
T:!i'd like a cup of coffee
T:brew us some coffee
get us a coffee"""),
    _intent("on", None, "_kettle", 2, """
(boil|heat) [some|the] water
put the kettle on for tea
!(i want|i'd like) hot water [for tea]
V:boil some water for tea
T:heat [some|the] water for tea
T:!i need hot water"""),
    _intent("set", None, "alarm", 7, """
set (an|the|my) alarm (for|to) {clock}
set (an|the|my) alarm {at}
wake me [up] {at}
wake us [up] {at}
get me up {at}
!alarm (for|at) {clock}
!alarm {at}
!(i want|i need|i'd like) an alarm for {clock}
!(i want|i need) to (wake|get|be) up {at}
!i (must|have to) (wake|get|be) up {at}
create an alarm for {clock}
put an alarm on {at}
make sure i (wake|get) up {at}
have an alarm (ready|ring) {at}
let the alarm ring {at}
V:create an alarm {at}
V:make sure i am up {at}
T:get us up {at}
T:let an alarm (wake me|ring) {at}
T:!we (must|have to) (wake|get|be) up {at}
T:!i need an alarm {at}""", times=False),
    _intent("cancel", None, "alarm timer", 3, """
(cancel|delete|remove|clear|stop) {np}
(turn|switch) off {np}
turn {np} off
get rid of {np}
!{np} off
?i don't need {np} (anymore|any more)
?forget [about] {np}
(kill|disable|end) {np}
V:go ahead and delete {np}
V:go ahead and cancel {np}
T:?we don't need {np} (anymore|any more)
T:have {np} (cancelled|removed)
T:go ahead and (remove|clear) {np}
!i want {np} cancelled
have {np} turned off
!i want {np} removed""", times=False),
    _intent("start", "for", "timer", 7, """
(set|start) a timer (for|of|to) {value}
(set|start) [a|the] timer {value}
(set|start|give me) a {adj} timer
set the timer (for|to) {value}
!{value} timer
!timer (for|of) {value}
!timer {value}
!{value} on the timer
put {value} on the (timer|clock)
give me {value} on the timer
count [down] {value}
!(i need|i want|i'd like) a timer for {value}
!(i need|i want) a {adj} timer
time {value}
create a timer for {value}
let me know (in|after) {value}
(tell|remind) me (in|after) {value}
!{adj} timer
V:create a {adj} timer
V:start to count [down] {value}
!start a countdown of {value}
!countdown {value}
T:start a countdown for {value}
T:!i'd like a {adj} timer
T:put a timer on for {value}
T:!we need a timer for {value}""", times=False),
    _intent("start", "label", "timer", 4, """
(set|start) a {label} timer for {value}
(set|start) a timer for {value} for the {label}
(set|start) a timer for the {label} for {value}
(set|start) a {adj} timer for the {label}
(set|start) a {adj} {label} timer
!{label} timer (for|of) {value}
!{label} timer {value}
!{value} for the {label}
?the {label} needs {value}
time the {label} for {value}
remind me of the {label} in {value}
(remind me|tell me) about the {label} (in|after) {value}
create a {label} timer for {value}
!(i need|i want) a {label} timer (for|of) {value}
V:create a {adj} timer for the {label}
V:!i'd like a {label} timer for {value}
T:!i need a {adj} timer for the {label}
T:?the {label} takes {value}
?the cake takes a while so time the {label} for {value}
T:let me know about the {label} in {value}
T:put {value} on the {label} timer""", times=False),
    _intent("on", "scene", "scene", 4, """
(activate|start|enable|run) {value}
(switch|change|go) to {value}
turn on {value}
turn {value} on
set {value}
!{value}
?it's {value}
!(i want|i'd like) {value}
!let's have {value}
put the house in {value}
put on {value}
V:go ahead and start {value}
V:switch the house to {value}
T:put {value} on
T:get {value} going
T:set the house to {value}
T:!it is time for {value}"""),
    _intent("query", None, DOORS + ["lights", "tv", "oven", "heating", "fan", "blinds", "window", "camera"], 6, """
!(is|are) {np} (on|off|open|closed|locked|running)
!did (i|we|someone) (leave|turn) {np} (on|off)
!did (i|we|someone) (lock|close|open) {np}
!(tell me|check|find out) (if|whether) {np} (is|are) (on|open|locked|closed)
!what is the (status|state) of {np}
!what's the (status|state) of {np}
!do you know (if|whether) {np} (is|are) (on|off|locked|open)
!(have|has) someone (closed|opened|locked) {np}
!i wonder (if|whether) {np} (is|are) (on|off|open|locked)
!check {np}
!how (is|are) {np} doing
V:!can you (check|tell me) (if|whether) {np} (is|are) (on|closed|open)
V:!check the (status|state) of {np}
T:!did i forget to (lock|close|turn off) {np}
T:!tell me the (status|state) of {np}
T:!find out (if|whether) someone (closed|locked|opened) {np}
!did you forget to close {np}""", times=False),
    _intent("query", None, "_thermostat", 4, """
!(what's|what is) the temperature{in}
!how (warm|cold|hot) is it{in}
!(tell|give) me the temperature{in}
!how many degrees (is it|are there){in}
!check the temperature{in}
!is it (warm|cold|hot){in}
!what temperature (is it|do we have){in}
!i wonder how (warm|cold) it is{in}
V:!do you know the temperature{in}
V:!what is the thermostat{in} at
T:!do you know how (warm|cold|hot) it is{in}
T:!find out the temperature{in}
T:!how many degrees do we have{in}""", times=False),
    _intent("query", None, "timer alarm", 3, """
!how (much time|long) is left on {np}
!how (much|many minutes) (is|are) left on {np}
!(when|what time) (is|does) {np} (set|ring|go off)
!(what's|what is) {np} set to
!(tell me|check) how long {np} (has|needs)
!is {np} (set|on|running)
!(show|tell) me {np}
!what time is {np} set for
V:!check on {np}
V:!when will {np} ring
!what will {np} do
T:!tell me how (much time|long) is left on {np}
T:!check (if|whether) {np} is (set|running)
T:!do you know when {np} (goes off|is set)
!i wonder when {np} goes off""", times=False),
]

ALL_INTENTS = INTENTS + MORE_INTENTS

# Not a home command: answered {"action":"unknown"}.
UNKNOWN = """
(what's|what is) the weather [like] [today|tomorrow]
(will|does) it rain (today|tomorrow|on monday)
tell me a (joke|story|secret)
who (won|is winning) the (game|match|election)
(order|buy|get) [me] (a pizza|some food|milk|a book|a new lamp|tickets)
(call|text|message|email) (mom|dad|anna|the doctor|my boss|my brother)
how (old|tall) are you
what is your name
who are you
how are you [today]
(thanks|thank you) [so much|very much]
(hello|hi|hey there)
what time is it
what day is (it|today|tomorrow)
how far is (the moon|the sun|paris|london)
(translate|spell|define) (hello|the word kitchen|the word door) [in french]
(book|find) a (table|flight|hotel|taxi) (for two|to paris|for tonight)
i (love|like|hate) (you|this song|mondays|my new tv|the kitchen)
the kitchen is (nice|lovely|big)
the (tv|sofa|garden) (is|looks) (nice|new|expensive)
(open|start) the (browser|app|calculator)
(what|who) is (the president|the queen|a volcano)
how do i (cook|make) (rice|pasta|bread|a cake)
what (should i|can i) (wear|eat|cook|read) [today|tonight]
(sing|write) [me] a (song|poem|letter)
(where|when) is (my phone|my birthday|the party|anna)
add (milk|eggs|bread) to (the|my) shopping list
(two|three) (plus|times) (four|five)
never mind
forget it
nothing
i have a (headache|new lamp|new oven|question)
we painted the (bedroom|kitchen|hallway) (blue|green|white) [yesterday]
(my|the) (brother|sister|cat) is in the (kitchen|garden|bathroom|office)
who is (in|at) the (kitchen|garden|door)
how much (is|was) the (lamp|tv|oven|sofa)
(mom|dad|anna) (bought|sold|broke) the (lamp|tv|kettle|radio) [yesterday]
i (cleaned|painted|saw) the (garage|fan|window) yesterday
what a (nice|lovely|bad) (day|song|house)
are you (there|listening|happy|a robot)
can you (hear me|sing|dance|cook)
V:what's the weather in (paris|london)
V:text anna that i love you
V:who bought the new lamp
V:tell me about the president
T:how tall is the president
T:is it going to rain
T:tell me a story about the moon
T:where is the cat
T:call my sister
T:who painted the garage
is the doctor going to call me
tell me about paris"""

# Imperatives turned into their opposite: answered {"action":"none"}, since nothing may change.
NEGATIONS = """
don't {x}
do not {x}
please don't {x}
please do not {x}
never {x}
you don't (need|have) to {x}
no need to {x}
i don't want you to {x}
make sure not to {x}
you should not {x}
you shouldn't {x}
don't you (dare|ever) {x}
under no circumstances {x}
better not {x}
it's not necessary to {x}
don't ever {x}
please never {x}
V:there is no need to {x}
V:you must not {x}
T:it is not necessary to {x}
T:i do not want you to {x}
T:make sure you don't {x}
T:you do not (need|have) to {x}
T:you better not {x}
there you go but don't {x}
i must ask you not to {x}"""

# A correction: only the last command counts.
CORRECTIONS = """
don't {x} (but|,) {y}
don't {x}, {y} instead
{x} no wait {y}
{x}, sorry, {y}
{x}, no, {y}
{x} (i mean|i meant) {y}
instead of that {y}
not {n}, {y}
do not {x}, [just] {y}
V:please don't {x}, {y}
V:{x}, wait, {y}
T:{x}, sorry, i meant {y}
T:do not {x} but {y}
T:{x}, no wait, {y} instead"""

# Taken back: answered {"action":"none"}.
RETRACTIONS = """
{x} (no|oh) never mind
{x}, (wait|sorry|actually|oh), (forget it|never mind|don't)
{x}, (actually|wait) no
{x} no (wait|sorry) don't
V:{x}, oh wait, never mind
T:{x}, no, forget it
T:{x}, actually, sorry, never mind"""

PREFIXES = """
please
could you
can you
would you
could you please
can you please
would you please
hey
hey,
ok
okay,
hi,
alright
i want you to
i'd like you to
i need you to
be so kind and
hey, can you
hello,
just
now
quickly
hey please
i would like you to
if you can,
V:hey, could you please
V:be so kind and please
T:hi, would you please
T:okay, i need you to
T:hello, could you
T:hey, just"""
SUFFIXES = """
please
thanks
thank you
now
for me
will you
right now
right away
if you can
for me please
immediately
V:please thank you
V:now please
T:right now please
T:for me thanks
T:if you can please"""
