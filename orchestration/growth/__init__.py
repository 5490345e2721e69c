"""Growth within bounds: who may be born and who may end, decided in one place that no submind reaches."""
