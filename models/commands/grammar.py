# SPDX-License-Identifier: Apache-2.0
"""What a home can be told: devices, rooms, values and the templates of each intent.

A template line is a phrase with slots in braces, choices (a|b) and options [a]. In front of it may stand
"V:" or "T:", which keeps it out of training (validation or test only), and "!", which marks a phrase that is
no imperative, so that "could you" and "don't" cannot stand before it. Slots:
  {np}      the device, and its room where one is named: "the kitchen lights"
  {room}    the room, always named: "the kitchen"      {in}  " in the kitchen", or nothing
  {value}   the intent's value                         {adj} a duration before a noun: "10 minute"
  {at}      "at seven tomorrow"                        {clock} the same without its preposition
"""
from collections import namedtuple

# key: what it is called in commands
DEVICES = {
    "lights": ["lights", "lights", "light", "lighting"], "lamp": ["lamp", "floor lamp", "bedside lamp", "desk lamp"],
    "heating": ["heating", "radiator", "heater"], "thermostat": ["thermostat"],
    "air_conditioner": ["air conditioner", "air conditioning", "AC", "aircon"], "fan": ["fan", "ceiling fan"],
    "humidifier": ["humidifier"], "air_purifier": ["air purifier", "air cleaner"],
    "blinds": ["blinds", "blind", "shades", "roller blinds"], "curtains": ["curtains", "drapes"],
    "window": ["window", "windows"], "front_door": ["front door"], "back_door": ["back door", "patio door"],
    "garage_door": ["garage door"], "gate": ["gate", "garden gate"],
    "tv": ["tv", "TV", "television", "telly"], "radio": ["radio"], "speaker": ["speaker", "speakers"],
    "music": ["music"], "vacuum": ["vacuum", "vacuum cleaner", "robot vacuum", "hoover"],
    "oven": ["oven"], "coffee_machine": ["coffee machine", "coffee maker", "espresso machine"],
    "kettle": ["kettle"], "dishwasher": ["dishwasher"], "washing_machine": ["washing machine", "washer"],
    "dryer": ["dryer", "tumble dryer"], "sprinkler": ["sprinkler", "sprinklers", "irrigation"],
    "camera": ["camera", "security camera"], "plug": ["plug", "socket", "outlet"],
    "alarm": ["alarm"], "timer": ["timer"], "scene": [],
}
PLURAL = ("lights", "blinds", "curtains", "window", "camera", "plug", "speaker")  # may be "all" of the house

# key: (name, the preposition of "in the kitchen")
ROOMS = {
    "kitchen": [("kitchen", "in the")], "living_room": [("living room", "in the"), ("lounge", "in the"), ("sitting room", "in the")],
    "bedroom": [("bedroom", "in the")], "bathroom": [("bathroom", "in the")],
    "hallway": [("hallway", "in the"), ("hall", "in the"), ("corridor", "in the")],
    "office": [("office", "in the"), ("study", "in the")], "dining_room": [("dining room", "in the")],
    "kids_room": [("kids room", "in the"), ("children's room", "in the"), ("nursery", "in the")],
    "guest_room": [("guest room", "in the"), ("spare room", "in the")],
    "basement": [("basement", "in the"), ("cellar", "in the")], "attic": [("attic", "in the"), ("loft", "in the")],
    "laundry_room": [("laundry room", "in the"), ("utility room", "in the")],
    "garage": [("garage", "in the")], "garden": [("garden", "in the"), ("yard", "in the")],
    "balcony": [("balcony", "on the"), ("terrace", "on the")],
    "upstairs": [("upstairs", "")], "downstairs": [("downstairs", "")],
}
COLORS = {"red": ["red"], "green": ["green"], "blue": ["blue"], "yellow": ["yellow"], "orange": ["orange"],
          "purple": ["purple", "violet"], "pink": ["pink"], "turquoise": ["turquoise"], "white": ["white"],
          "warm_white": ["warm white", "a warm white"], "cool_white": ["cool white", "cold white"]}
GENRES = "jazz rock pop classical blues reggae techno folk metal soul country lullabies".split()
SCENES = {"night": ["good night", "night mode", "the night scene"], "morning": ["good morning", "the morning scene", "morning mode"],
          "movie": ["movie mode", "movie time", "the movie scene"], "dinner": ["dinner time", "the dinner scene", "dinner mode"],
          "party": ["party mode", "the party scene", "party time"], "reading": ["reading mode", "the reading scene"],
          "away": ["away mode", "the away scene"], "home": ["home mode", "the home scene"]}
LABELS = "pasta rice eggs pizza tea bread cake laundry workout nap".split()
SPEEDS = ["low", "medium", "high"]

ROOMLESS = {"front_door", "back_door", "garage_door", "gate", "oven", "coffee_machine", "kettle", "dishwasher",
            "washing_machine", "dryer", "alarm", "timer", "scene"}
SWITCHED = ("lights lights lights lights lamp heating air_conditioner fan humidifier air_purifier tv tv radio speaker oven "
            "coffee_machine kettle sprinkler camera plug").split()
DOORS = ["front_door", "back_door", "garage_door", "gate"]
APPLIANCES = ["dishwasher", "washing_machine", "dryer"]

Intent = namedtuple("Intent", "action value devices weight times templates")


def _intent(action, value, devices, weight, templates, times=True):
    """`times`: may a time be added ("at seven")? A value names the answer's key and the kind of number."""
    return Intent(action, value, devices.split() if isinstance(devices, str) else devices, weight, times, templates)


INTENTS = [
    _intent("on", None, SWITCHED, 12, """
turn on {np}
turn {np} on
switch on {np}
switch {np} on
(put|power) on {np}
put {np} on
power up {np}
(activate|enable) {np}
get {np} (on|going)
fire up {np}
(make sure|see that) {np} (is|are) on
have {np} (turned|switched) on
go ahead and (turn|switch) on {np}
!(i want|i need|i'd like) {np} on
!{np} on
!{np} should be [turned] on
!let's (turn on {np}|have {np} on)
!it is time to (turn on|switch on) {np}
?we need {np} on
?i forgot to turn on {np}
?would you like to turn on {np}
V:go ahead and put {np} on
V:!i'd like {np} (turned|switched) on
V:make sure {np} (is|are) switched on
T:get {np} (turned|switched) on
T:!let's get {np} on
T:?we need to turn {np} on
T:!i want to have {np} on
T:see to it that {np} (is|are) on"""),
    _intent("off", None, SWITCHED, 12, """
turn off {np}
turn {np} off
switch off {np}
switch {np} off
(shut|power) off {np}
(put|shut) {np} off
power down {np}
(deactivate|disable|kill|cut) {np}
get {np} off
(make sure|see that|see to it that) {np} (is|are) off
have {np} (turned|switched) off
go ahead and (turn|switch) off {np}
!(i want|i need|i'd like) {np} off
!{np} off
!{np} should be [turned] off
!let's (turn off {np}|have {np} off)
?i don't need {np} [on] (anymore|any more)
?we are done with {np}
?i forgot to (turn|switch) off {np}
?nobody needs {np} (anymore|now)
?{np} can go off
V:go ahead and shut {np} off
V:!i'd like {np} (turned|switched) off
V:?we don't need {np} anymore
T:get {np} (turned|switched) off
T:?{np} can be turned off
T:?nobody needs {np} any more
T:!let's get {np} off
T:?i forgot to shut off {np}"""),
    _intent("set", "brightness", "lights lights lights lamp", 9, """
(set|turn|bring|put) {np} to {value}
(set|change) {np} to {value} brightness
(dim|brighten|adjust) {np} to {value}
set the brightness of {np} to {value}
(turn|dim) {np} (down|up) to {value}
change the brightness of {np} to {value}
make {np} {value} bright
!{np} (to|at) {value}
!(i want|i'd like) {np} at {value}
!{np} should be at {value} [brightness]
have {np} at {value}
(turn|switch) on {np} at {value}
V:get {np} (down|up) to {value}
V:!i'd like the brightness of {np} at {value}
T:adjust the brightness of {np} to {value}
T:put {np} at {value} brightness
T:!the brightness of {np} should be {value}"""),
    _intent("set", "color", "lights lights lamp", 5, """
(turn|make|set|switch) {np} [to] {value}
change {np} to {value}
(change|set) the (color|colour) of {np} to {value}
(change|set) {np} (color|colour) to {value}
(give|light) {np} {value}
!(i want|i'd like|i need) {value} light{in}
!{np} (in|to) {value}
!(i want|i'd like) {np} [to be] {value}
put {np} (on|to) {value}
have {np} (in|turn) {value}
V:!{np} should be {value}
V:have {np} be {value}
T:make the (color|colour) of {np} {value}
T:!let's have {np} in {value}
T:switch the (color|colour) of {np} to {value}"""),
    _intent("raise", "by", "lights lights lamp", 5, """
(brighten|raise) {np} [by {value}]
make {np} brighter
make {np} {value} brighter
turn {np} up [by {value}]
turn up {np} [by {value}]
(increase|raise) the brightness of {np} [by {value}]
(increase|raise) {np} by {value}
?it's too dark{in}
?i can't see (anything|a thing){in}
!{np} (a bit|a little) brighter
?(i need|i want|give me) more light{in}
?{np} (is|are) too (dark|dim)
!{np} up by {value}
make it [a bit|a little] brighter{in}
brighten {np} [up] (a bit|a little)
V:bring {np} up by {value}
V:?it's (a bit|a little) [too] dark{in}
T:raise {np} a little
T:make {np} a bit brighter
T:?it is too dark{in}
T:!{np} should be (a little|{value}) brighter"""),
    _intent("lower", "by", "lights lights lamp", 5, """
(dim|lower) {np} [by {value}]
make {np} (darker|dimmer|less bright)
make {np} {value} (darker|dimmer)
turn {np} down [by {value}]
turn down {np} [by {value}]
(decrease|reduce|lower) the brightness of {np} [by {value}]
(decrease|reduce) {np} by {value}
?it's too bright{in}
!{np} (a bit|a little) darker
?(i need|i want|give me) less light{in}
?{np} (is|are) too bright
!{np} down by {value}
make it [a bit|a little] (darker|dimmer){in}
dim {np} (a bit|a little)
V:bring {np} down by {value}
V:?it's (a bit|a little) [too] bright{in}
T:lower {np} a little
T:make {np} a bit (dimmer|darker)
T:?it is too bright{in}
T:!{np} should be (a little|{value}) darker"""),
    _intent("set", "temperature", "thermostat thermostat heating air_conditioner", 8, """
(set|turn|adjust|change) {np} to {value}
(turn|bring|put) {np} (up|down) to {value}
set the temperature of {np} to {value}
put {np} (at|on|to) {value}
!{np} (to|at) {value}
!(i want|i'd like) {np} (at|on) {value}
!{np} should be (at|on) {value}
have {np} at {value}
turn on {np} at {value}
V:get {np} (up|down) to {value}
T:change the temperature of {np} to {value}
T:set {np} at {value}
T:adjust {np} (up|down) to {value}"""),
    _intent("set", "temperature", "_thermostat", 6, """
(set|change|bring) the temperature{in} to {value}
make it {value}{in}
(heat|warm|cool) {room} (up|down) to {value}
(heat|warm|cool) {room} to {value}
set {room} to {value}
!(i want|i'd like) it (to be|at) {value}{in}
!(i want|i'd like) {value} in here
!it should be {value}{in}
keep {room} at {value}
keep it at {value}{in}
!{value}{in} would be (nice|good|great)
V:bring {room} to {value}
V:keep the temperature{in} at {value}
T:have it {value}{in}
T:!the temperature{in} should be {value}
T:!i'd like {room} at {value}"""),
    _intent("raise", "by", "_thermostat", 4, """
make it [a bit|a little] warmer{in}
make it {value} warmer{in}
(raise|increase) the temperature{in} [by {value}]
(turn|put) up the (heat|temperature){in} [by {value}]
turn the (heat|temperature){in} up [by {value}]
warm up {room} [by {value}]
(warm|heat) it up{in}
?(it's|it is) [too] (cold|chilly|freezing){in}
?(i'm|i am|we are) (cold|freezing)[{in}]
!{value} warmer{in}
?it's (a bit|a little) cold{in}
V:!i'd like it [a bit|a little] warmer{in}
V:heat up {room} by {value}
T:!it should be {value} warmer{in}
T:bring the (heat|temperature){in} up by {value}
T:?we are too (cold|chilly){in}"""),
    _intent("lower", "by", "_thermostat", 4, """
make it [a bit|a little] (cooler|colder){in}
make it {value} (cooler|colder){in}
(lower|decrease|reduce) the temperature{in} [by {value}]
(turn|put) down the (heat|temperature){in} [by {value}]
turn the (heat|temperature){in} down [by {value}]
cool down {room} [by {value}]
(cool|chill) it down{in}
?(it's|it is) [too] (hot|warm|boiling){in}
?(i'm|i am|we are) (hot|boiling)[{in}]
!{value} (cooler|colder){in}
?it's (a bit|a little) (hot|warm){in}
V:!i'd like it [a bit|a little] cooler{in}
V:cool {room} down by {value}
T:!it should be {value} (cooler|colder){in}
T:bring the (heat|temperature){in} down by {value}
T:?we are too (hot|warm){in}"""),
    _intent("raise", "by", "thermostat heating", 3, """
turn up {np} [by {value}]
turn {np} up [by {value}]
(raise|increase) {np} [by {value}]
put {np} up by {value}
!{np} up by {value}
T:bring {np} up by {value}"""),
    _intent("lower", "by", "thermostat heating", 3, """
turn down {np} [by {value}]
turn {np} down [by {value}]
(lower|decrease|reduce) {np} [by {value}]
put {np} down by {value}
!{np} down by {value}
T:bring {np} down by {value}"""),
    _intent("set", "speed", "fan fan air_purifier humidifier", 4, """
(set|turn|put|switch) {np} to {value} [speed]
set the speed of {np} to {value}
(turn|run) {np} on {value} [speed]
change the speed of {np} to {value}
!{np} (on|to|at) {value} [speed]
run {np} at {value} [speed]
!(i want|i'd like) {np} (on|at) {value}
V:put {np} (on|at) {value} speed
T:adjust {np} to {value} speed
T:change {np} to {value} speed
T:!the speed of {np} should be {value}"""),
    _intent("open", None, "blinds blinds curtains curtains window garage_door gate", 6, """
open {np}
open up {np}
(raise|lift) {np}
(pull|roll|put) {np} up
(pull|roll) up {np}
(draw|pull) {np} open
get {np} open
!(i want|i'd like|i need) {np} open
!{np} open
!{np} should be open
have {np} opened
(make sure|see that) {np} (is|are) open
go ahead and open {np}
!let's (open {np}|have {np} open)
V:go ahead and open up {np}
V:see to it that {np} (is|are) open
T:get {np} opened
T:!i'd like {np} opened
T:!let's get {np} open"""),
    _intent("close", None, "blinds blinds curtains curtains window garage_door gate", 6, """
close {np}
(shut|close up) {np}
lower {np}
(pull|roll|put|let) {np} down
(pull|roll|let) down {np}
(draw|pull) {np} (closed|shut)
get {np} closed
!(i want|i'd like|i need) {np} (closed|shut)
!{np} (closed|shut)
!{np} should be (closed|shut)
have {np} (closed|shut)
(make sure|see that) {np} (is|are) (closed|shut)
go ahead and (close|shut) {np}
!let's (close {np}|have {np} closed)
V:go ahead and close up {np}
V:see to it that {np} (is|are) closed
T:get {np} shut
T:!let's shut {np}
T:!let's get {np} closed"""),
    _intent("set", "position", "blinds blinds curtains window", 6, """
(set|bring|put|move) {np} to {value}
open {np} [to] {value}
open {np} {value} of the way
(set|move) the position of {np} to {value}
!{np} (to|at) {value}
!(i want|i'd like) {np} {value} open
have {np} {value} open
set {np} to {value} open
raise {np} to {value}
lower {np} to {value}
V:adjust {np} to {value} open
V:!{np} should be {value} open
T:change the position of {np} to {value}
T:move {np} to {value} open
T:!i'd like {np} to be at {value}"""),
    _intent("lock", None, DOORS, 4, """
lock {np}
lock up {np}
(make sure|see that) {np} is locked
have {np} locked
!(i want|i'd like|i need) {np} locked
!{np} should be locked
get {np} locked
go ahead and lock {np}
?i forgot to lock {np}
!let's lock {np}
V:see to it that {np} is locked
V:!{np} locked
T:go ahead and lock up {np}
T:!let's have {np} locked
T:?we need {np} locked"""),
    _intent("unlock", None, DOORS, 4, """
unlock {np}
(make sure|see that) {np} is unlocked
have {np} unlocked
!(i want|i'd like|i need) {np} unlocked
!{np} should be unlocked
get {np} unlocked
go ahead and unlock {np}
?i forgot to unlock {np}
!let's unlock {np}
V:see to it that {np} is unlocked
V:!{np} unlocked
T:!let's have {np} unlocked
T:?we need {np} unlocked
T:!let's get {np} unlocked"""),
    _intent("set", "volume", "tv tv radio speaker music", 7, """
(set|turn|put) {np} to [volume] {value}
(set|change|adjust) the volume (of|on) {np} to {value}
turn {np} (up|down) to {value}
turn the volume of {np} (up|down) to {value}
!{np} [volume] (to|at) {value}
!{np} volume {value}
!(i want|i'd like) {np} at [volume] {value}
(set|put) {np} volume to {value}
have {np} at volume {value}
V:put the volume of {np} to {value}
V:get the volume of {np} (up|down) to {value}
T:adjust {np} volume to {value}
T:change {np} to volume {value}
T:!the volume (of|on) {np} should be {value}"""),
    _intent("raise", "by", "tv tv radio speaker music", 4, """
turn up {np} [by {value}]
turn {np} up [by {value}]
make {np} [a bit|a little] louder
(raise|increase) the volume (of|on) {np} [by {value}]
turn up the volume (of|on) {np}
turn the volume (of|on) {np} up [by {value}]
!{np} (a bit|a little) louder
?{np} is too quiet
?i can't hear {np}
!{np} up by {value}
T:increase {np} volume by {value}
V:turn up {np} volume by {value}
T:!{np} should be [a bit|a little] louder"""),
    _intent("lower", "by", "tv tv radio speaker music", 4, """
turn down {np} [by {value}]
turn {np} down [by {value}]
make {np} [a bit|a little] (quieter|softer)
(lower|decrease|reduce) the volume (of|on) {np} [by {value}]
turn down the volume (of|on) {np}
turn the volume (of|on) {np} down [by {value}]
!{np} (a bit|a little) (quieter|softer)
?{np} is too loud
!{np} down by {value}
T:reduce {np} volume by {value}
V:turn down {np} volume by {value}
T:!{np} should be [a bit|a little] quieter"""),
    _intent("mute", None, "tv tv radio speaker", 2, """
mute {np}
(silence|hush) {np}
put {np} on mute
turn off the sound of {np}
turn the sound of {np} off
!no sound on {np}
V:have {np} muted
!i want {np} muted
get {np} muted
T:turn off the sound on {np}
T:switch {np} to mute"""),
    _intent("unmute", None, "tv tv radio speaker", 2, """
unmute {np}
turn on the sound of {np}
turn the sound of {np} [back] on
get {np} unmuted
take {np} off mute
!i want {np} unmuted
V:have {np} unmuted
T:turn on the sound on {np}
T:get {np} off mute"""),
    _intent("set", "channel", "tv", 3, """
(set|turn|put|switch|change) {np} to channel {value}
(put on|show|go to) channel {value} on {np}
!{np} (to|on) channel {value}
!(i want|i'd like) [to (watch|see)] channel {value} on {np}
change the channel on {np} to {value}
V:turn on channel {value} on {np}
T:set the channel (of|on) {np} to {value}
T:!let's watch channel {value} on {np}"""),
]
