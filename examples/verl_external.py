"""The module to name in VERL_USE_EXTERNAL_MODULES: importing it installs the hook of `examples.verl_hook`."""

from examples.verl_hook import install

install()
