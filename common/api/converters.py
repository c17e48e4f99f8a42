"""Path parts of the API."""


class IdConverter:
    """The number of a row: 1 to 18 digits, so that every value fits a 64-bit column on both databases."""

    regex = "[0-9]{1,18}"

    def to_python(self, value: str) -> int:
        return int(value)

    def to_url(self, value: int) -> str:
        return str(value)


class CodeConverter:
    """A human id such as EP-007: letters, a hyphen, at least three digits."""

    regex = "[A-Za-z]{1,4}-[0-9]{3,18}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value
