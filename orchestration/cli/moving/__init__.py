"""Commands that carry a whole mind from one place to another, and the schema it finds there."""
