"""Which writes repeat what is there already."""

from environment.messages import Trace


def same_content(ours: Trace, theirs: Trace) -> bool:
    """Whether two writes of one version say the same. A first version is named after what it came from."""
    if ours.thought.author != theirs.thought.author:
        return False
    if ours.version == 1:
        return ours.thought.parents == theirs.thought.parents
    return (ours.thought.text, ours.authors) == (theirs.thought.text, theirs.authors)
