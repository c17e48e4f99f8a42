"""Staff accounts and the four built-in roles (groups).

In: who signs in to the admin. Out: `User`, `roles.sync_roles`, the `create_first_admin` command.
"""
