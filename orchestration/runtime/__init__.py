"""The mind process: starts Ray and a mind's actors on it, and sees to it that they live."""
