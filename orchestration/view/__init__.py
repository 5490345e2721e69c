"""Reading a mind from its stores alone: the stream as it grows, its status, its traces and their lineage."""
