"""A labelled list of lines that try to steer a model, and of ordinary ones: one half for writing the rules,
the other held out to measure them. All lines are our own; none is copied from a collection.
"""

import itertools
import random


def filled(templates, fillers, each, seed):
    """Each template with up to `each` different fillings of its `{name}` places, in a fixed random order."""
    chosen = random.Random(seed)
    lines = []
    for template in templates:
        names = [name for name in fillers if "{" + name + "}" in template]
        options = list(itertools.product(*(fillers[name] for name in names)))
        for values in chosen.sample(options, min(each, len(options))):
            line = template
            for name, value in zip(names, values, strict=True):
                line = line.replace("{" + name + "}", value)
            lines.append(line)
    return list(dict.fromkeys(lines))
