"""Memory of sessions, and the words by which users teach, forbid, correct, praise and complain.

In: phrases kept by administrators; texts of users. Out: the signs of a text, what it wants kept or never done
again, what it corrects, and how content a user is. Nothing here writes an agent's body.
"""
