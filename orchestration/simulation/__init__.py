"""The deterministic simulator: the same cores and shells as live, in one process, virtual time, one seed."""
