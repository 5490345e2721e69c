"""What is ``HOST:PORT`` and what is not."""

import pytest

from environment.addresses import endpoint_label, endpoint_of


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("db-1.example.org:9042", ("db-1.example.org", 9042)),
        ("10.0.0.7:1", ("10.0.0.7", 1)),
        ("[::1]:65535", ("::1", 65535)),
        ("[fe80::1%eth0]:2379", ("fe80::1%eth0", 2379)),
    ],
)
def test_what_is_written_is_read_and_said_again(text, found):
    assert endpoint_of(text) == found
    assert endpoint_label(*found) == text


def test_a_port_may_stand_for_itself_where_there_is_one():
    assert endpoint_of("a", 7) == ("a", 7)
    assert endpoint_of("[::1]", 7) == ("::1", 7)
    assert endpoint_of("a:8", 7) == ("a", 8)


@pytest.mark.parametrize(
    "text",
    ["", "a", ":1", "a:", "a:b", "a:0", "a:70000", "::1", "::1:7", "[::1", "[x]:1", "http://a:1", "a b:1", "a:1\n"],
)
def test_what_is_none_is_refused(text):
    with pytest.raises(ValueError):
        endpoint_of(text)
