"""Words that try to steer a model. Stub."""


def lures(texts):
    return []
