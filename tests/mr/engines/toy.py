"""An engine of a test: inline, but for its name."""

from crawlmill.mr.engines.machine.runner import InlineRunner, machine_work

__all__ = ["ToyRunner", "examine_toy", "toy_work"]


class ToyRunner(InlineRunner):
    """Runs tasks as `inline` does."""

    alias = "toy"


def toy_work(setup):
    assert (setup.info.runner, setup.storage.options.retries) == ("toy", 3)
    return machine_work(setup)


def examine_toy(conf_paths, storage, settings):
    yield f"the toy box in {settings['region']}", None
    yield "a toy is broken", "mend it"
