"""``python -m orchestration.runtime PARENT``: the mind process, started by the host."""

import sys

from orchestration.runtime.mind_process import main

if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
