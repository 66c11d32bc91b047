"""What help() lists of a public class: what Sluice defines, not what int, tuple, Exception and the like bring with them."""
import abc
import enum
from typing import List


def _own(cls: type) -> List[str]:
    """Names that classes of this package define: public ones, and special methods with a docstring."""
    names = {}
    for base in cls.__mro__:
        if base.__module__.split(".")[0] != __package__:
            continue
        for name, value in vars(base).items():
            special = name.startswith("__") and name.endswith("__")
            if type(value).__name__ == "_tuplegetter":
                continue  # of a named tuple: the docstring of its class has them
            if not name.startswith("_") or (special and callable(value) and getattr(value, "__doc__", None) and name not in _BROUGHT):
                names[name] = True
    return sorted(names)


_BROUGHT = {"__init__", "__new__", "__class__", "__init_subclass__", "__format__", "__getnewargs__", "__repr__", "__module__"}


class Manual(type):
    """Metaclass of a public class."""

    def __dir__(cls) -> List[str]:
        return _own(cls)


class ManualCollection(abc.ABCMeta):
    """Metaclass of a public class that is a mapping or a tuple."""

    def __dir__(cls) -> List[str]:
        return _own(cls)


class ManualEnum(enum.EnumMeta):
    """Metaclass of a public enumeration."""

    def __dir__(cls) -> List[str]:
        return list(cls.__members__)
