"""A POST sent twice has one effect: the first answer is stored in the transaction of its effect.

In: company, kind of request, `Idempotency-Key`, body. Out: the first answer again, or `IDEMPOTENCY_KEY_REUSED`.
"""
