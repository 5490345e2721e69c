"""The machines a mind lives on: a Ray of its own, or a cluster's nodes and the assignments on them."""
