"""Receipts: what was changed, by whom, when; append-only, one hash chain per company.

In: `services.write_receipt` from every room, inside the transaction of the change. Out: receipts for staff
and the API, exports, and `selectors.verify_chain`, which names the first broken link.
"""
