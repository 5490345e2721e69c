"""Knowledge: what is said to be so of people and things, since when and until when, by whom, and who denies it."""
