"""Parameters: the numbers of the evolution engine that a company may tune, with bounds and history.

In: an approved change (a proposal applied it). Out: the values that rules really read, and who changed them when.
A value without a row is the default. Nobody edits a value directly.
"""
