"""Knowledge: reusable findings whose confidence follows use, results and time.

In: reports waiting to be learnt from, files, what people write, outcomes of use. Out: drafts for a person, the few
items worth having before a phase, what misleads as a warning, and every number with the events it came from.
"""
