"""The tiny mind, as a wiring whose import starts a thread: what cannot be forked."""

import threading
import time

from tests.orchestration.runtime.tiny import build_shell, in_common, plan

__all__ = ["build_shell", "in_common", "plan"]

threading.Thread(target=time.sleep, args=(3600,), daemon=True).start()
