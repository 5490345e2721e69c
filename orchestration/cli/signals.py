"""Signals that end what a command does."""

import asyncio
import signal


def cancel_on(*numbers: signal.Signals) -> None:
    """Have these signals cancel the task that calls this."""
    task = asyncio.current_task()
    if task is not None:
        for number in numbers:
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
