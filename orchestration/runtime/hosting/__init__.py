"""Who lives in a mind: births and ends as they come to pass, and the processes they live in."""
