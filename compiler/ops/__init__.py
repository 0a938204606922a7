"""One module per family of operations; importing this package fills `compiler.operation.REGISTRY`."""

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
