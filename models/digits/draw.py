# SPDX-License-Identifier: Apache-2.0
"""Digits as hands write them: strokes through a few points, bent, slanted, thick or thin, [28, 28] from 0 to 1."""
import numpy as np

SIDE = 28

# Ways to write each digit: strokes of points (x to the right, y down) in a box from 0 to 1.
WAYS = {
    0: [[[(.5, 0), (.1, .2), (.05, .6), (.3, .97), (.65, .97), (.93, .6), (.88, .2), (.5, 0)]],
        [[(.6, .02), (.25, .1), (.05, .5), (.25, .93), (.6, .98), (.92, .65), (.9, .25), (.55, .0), (.4, .05)]],
        [[(.5, 0), (.22, .25), (.22, .7), (.5, 1), (.76, .7), (.76, .25), (.48, .0)]]],
    1: [[[(.5, 0), (.5, .5), (.5, 1)]], [[(.3, .25), (.45, .1), (.55, 0), (.55, .5), (.55, 1)]],
        [[(.65, 0), (.5, .5), (.35, 1)]],
        [[(.3, .25), (.52, .02), (.52, .5), (.52, .98)], [(.3, 1), (.5, 1), (.75, 1)]]],
    2: [[[(.1, .25), (.3, .02), (.7, .03), (.85, .3), (.6, .6), (.3, .8), (.08, .97)], [(.08, .97), (.5, .96), (.93, .96)]],
        [[(.12, .2), (.4, 0), (.8, .12), (.8, .42), (.45, .75), (.15, .95), (.2, .82), (.4, .85), (.65, .98), (.95, .9)]],
        [[(.15, .15), (.5, .0), (.82, .15), (.75, .45), (.4, .75), (.1, 1)], [(.1, 1), (.5, 1), (.9, 1)]]],
    3: [[[(.15, .12), (.45, 0), (.8, .12), (.75, .38), (.42, .48), (.8, .58), (.88, .82), (.5, 1), (.1, .88)]],
        [[(.12, .05), (.5, .03), (.85, .05)], [(.85, .05), (.65, .25), (.45, .42), (.78, .5), (.88, .76), (.55, 1), (.1, .9)]],
        [[(.2, .1), (.6, .0), (.8, .2), (.6, .42), (.4, .47), (.7, .52), (.85, .75), (.6, .98), (.15, .95)]]],
    4: [[[(.3, 0), (.2, .3), (.1, .58)], [(.1, .58), (.5, .58), (.92, .56)], [(.7, .1), (.68, .5), (.66, 1)]],
        [[(.62, 0), (.35, .3), (.08, .66)], [(.08, .66), (.5, .66), (.95, .66)], [(.65, 0), (.65, .5), (.65, 1)]],
        [[(.15, .0), (.12, .25), (.2, .48), (.5, .5), (.8, .42)], [(.8, .0), (.8, .5), (.78, 1)]]],
    5: [[[(.85, .03), (.5, .03), (.25, .04)], [(.25, .04), (.2, .22), (.17, .42)],
         [(.17, .42), (.5, .35), (.85, .55), (.8, .85), (.45, 1), (.1, .9)]],
        [[(.9, .0), (.6, .02), (.3, .05), (.22, .25), (.18, .45), (.55, .4), (.85, .6), (.72, .92), (.3, 1), (.1, .88)]],
        [[(.22, .02), (.2, .22), (.18, .44), (.55, .38), (.86, .62), (.7, .94), (.35, 1), (.1, .9)], [(.22, .02), (.55, .02), (.88, .0)]]],
    6: [[[(.7, 0), (.4, .2), (.15, .55), (.2, .88), (.5, 1), (.82, .85), (.8, .6), (.5, .5), (.22, .65)]],
        [[(.45, 0), (.2, .35), (.12, .7), (.35, .98), (.72, .92), (.8, .68), (.55, .52), (.2, .68)]],
        [[(.8, .05), (.45, .08), (.18, .4), (.15, .78), (.45, 1), (.78, .88), (.8, .65), (.55, .5), (.25, .58), (.16, .75)]]],
    7: [[[(.1, .03), (.5, .03), (.9, .03)], [(.9, .03), (.65, .45), (.45, 1)]],
        [[(.1, .18), (.12, .03), (.5, .04), (.88, .02)], [(.88, .02), (.6, .45), (.35, 1)]],
        [[(.1, .05), (.5, .06), (.88, .03)], [(.88, .03), (.62, .5), (.42, 1)], [(.3, .52), (.55, .5), (.82, .48)]],
        [[(.08, .08), (.4, .02), (.85, .05), (.8, .35), (.68, .65), (.65, 1)]]],
    8: [[[(.5, .48), (.2, .3), (.28, .05), (.68, .03), (.8, .25), (.5, .48), (.15, .72), (.3, .98), (.7, .98), (.85, .75), (.5, .48)]],
        [[(.8, .15), (.5, 0), (.2, .15), (.35, .42), (.7, .6), (.8, .85), (.5, 1), (.2, .85), (.3, .6), (.65, .42), (.82, .15)]],
        [[(.5, .0), (.25, .1), (.25, .35), (.5, .45), (.75, .35), (.75, .1), (.5, .0)],
         [(.5, .45), (.18, .6), (.18, .88), (.5, 1), (.82, .88), (.82, .6), (.5, .45)]]],
    9: [[[(.8, .2), (.5, 0), (.18, .15), (.2, .42), (.5, .5), (.78, .35), (.82, .18), (.8, .5), (.72, 1)]],
        [[(.78, .12), (.42, .02), (.15, .25), (.35, .48), (.7, .4), (.82, .1), (.82, .45), (.7, .8), (.35, 1)]],
        [[(.8, .25), (.55, .0), (.2, .12), (.18, .4), (.5, .52), (.8, .3)], [(.82, .1), (.74, .5), (.6, 1)]]],
}


def curve(points, count):
    """A smooth line through the points (Catmull and Rom)."""
    p = np.concatenate([points[:1], points, points[-1:]])
    t = np.linspace(0, len(points) - 1 - 1e-6, count)
    i = t.astype(int)
    f = (t - i)[:, None]
    a, b, c, d = p[i], p[i + 1], p[i + 2], p[i + 3]
    return 0.5 * (2 * b + (c - a) * f + (2 * a - 5 * b + 4 * c - d) * f**2 + (3 * b - a - 3 * c + d) * f**3)


GRID = np.stack(np.meshgrid(np.arange(SIDE), np.arange(SIDE)), -1).reshape(-1, 1, 2).astype(np.float32)


def place(lines, radius, rng):
    """A box of 20 pixels with the middle of the ink in the middle of the picture, as MNIST places digits; or nearly so."""
    every = np.concatenate(lines)
    size = rng.uniform(18.5, 20.5) - 2 * radius
    size /= max(np.ptp(every[:, 1]), np.ptp(every[:, 0]), 1e-3)
    middle = every.mean(0)
    where = (SIDE - 1) / 2 + rng.normal(0, 0.6, 2)
    return [((line - middle) * size + where).astype(np.float32) for line in lines]


def draw(digit, rng):
    ways = WAYS[digit]
    strokes = ways[rng.integers(len(ways))]
    strokes = [np.array(s, np.float32) + rng.normal(0, 0.05, (len(s), 2)) for s in strokes]
    turn, slant = rng.normal(0, 0.15), rng.normal(0.1, 0.27)
    wide, high = rng.uniform(0.45, 1.2), rng.uniform(0.8, 1.1)
    if digit == 1:
        wide = rng.uniform(0.25, 0.8)
    bend = rng.normal(0, 0.045, (2, 2))
    matrix = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    matrix = matrix @ np.array([[wide, -slant], [0, high]])
    lines = []
    for stroke in strokes:
        line = curve(stroke, 6 * (len(stroke) - 1) + 1) - 0.5
        line = line + bend[0] * np.sin(3 * line[:, ::-1]) + bend[1] * np.cos(5 * line)
        begun, ended = rng.uniform(0, 0.09, 2) * len(line)  # a pen is set down late or taken off early
        lines.append((line @ matrix.T)[int(begun) : len(line) - int(ended)])
    radius = rng.uniform(0.7, 2.2)
    near = np.full(SIDE * SIDE, np.inf, np.float32)
    for points in place(lines, radius, rng):
        a, step = points[:-1], points[1:] - points[:-1]
        along = ((GRID - a) * step).sum(-1) / np.maximum((step * step).sum(-1), 1e-9)
        gap = GRID - a - np.clip(along, 0, 1)[..., None] * step
        near = np.minimum(near, np.sqrt((gap * gap).sum(-1).min(1)))
    soft = rng.uniform(0.5, 1.1)
    ink = np.clip((radius - near) / soft + 0.5, 0, 1).reshape(SIDE, SIDE)
    ink = ink * rng.uniform(0.75, 1.0)
    if rng.random() < 0.2:  # a fleck, or a place without ink
        x, y = rng.integers(4, SIDE - 6, 2)
        ink[y : y + rng.integers(1, 4), x : x + rng.integers(1, 4)] = rng.choice([0, rng.uniform(0.3, 1)])
    if rng.random() < 0.3:
        ink = ink + rng.normal(0, 0.04, ink.shape)
    return np.clip(ink, 0, 1).astype(np.float32)


def warped(pictures, rng):
    """Each turned, slanted, stretched, moved and bent along two waves: more pictures of the same ones."""
    count = len(pictures)
    turn = rng.normal(0, 0.14, count)
    matrix = np.stack([np.cos(turn), -np.sin(turn), np.sin(turn), np.cos(turn)], -1).reshape(count, 2, 2)
    matrix = matrix * rng.normal(1, 0.12, (count, 1, 2))
    matrix[:, 0, 1] += rng.normal(0, 0.15, count)
    grid = GRID[:, 0] - (SIDE - 1) / 2
    at = grid @ matrix.transpose(0, 2, 1)
    waves = rng.uniform(-0.45, 0.45, (count, 2, 2))
    at += rng.normal(0, 0.8, (count, 1, 2)) * np.sin(grid @ waves + rng.uniform(0, 2 * np.pi, (count, 1, 2)))
    at = np.clip(at + (SIDE - 1) / 2 + rng.normal(0, 1, (count, 1, 2)), 0, SIDE - 1.001).astype(np.float32)
    first = at.astype(np.int32)
    x, y = (at - first).transpose(2, 0, 1)
    corner = first[..., 1] * SIDE + first[..., 0]
    flat = pictures.reshape(count, -1)
    value = [np.take_along_axis(flat, corner + step, 1) for step in (0, 1, SIDE, SIDE + 1)]
    mixed = (value[0] * (1 - x) + value[1] * x) * (1 - y) + (value[2] * (1 - x) + value[3] * x) * y
    return mixed.reshape(pictures.shape)


def make(count, seed):
    """`count` pictures and their digits."""
    rng = np.random.default_rng(seed)
    digits = rng.integers(0, 10, count)
    return np.stack([draw(int(digit), rng) for digit in digits]), digits
