# SPDX-License-Identifier: Apache-2.0
"""What a home has: devices, rooms and the named values, each with what it is called in commands."""

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
    "alarm": ["alarm"], "timer": ["timer"], "scene": [], "all": [],
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


def words():
    """Every word of the names above that a typing error may touch."""
    names = [name for called in DEVICES.values() for name in called]
    names += [name for called in ROOMS.values() for name, _ in called]
    return set(" ".join(names).lower().split()) | set(GENRES + LABELS)
