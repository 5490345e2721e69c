"""The servers that tests start: they serve, come back after a kill with what they had, and stand still when paused."""

import httpx

from tests.orchestration.living import eventually
from tests.servers.process import answers


def post(url, body, timeout=60):
    return httpx.post(url, json=body, timeout=timeout).raise_for_status().json()


def puts(server):
    """Whether it agrees to a write."""
    try:
        return post(f"http://{server.endpoint}/v3/kv/put", {"key": "YQ==", "value": "Yg=="}, 5)
    except httpx.HTTPError:
        return None


def test_etcd_keeps_what_it_was_given_when_it_is_killed(etcd_of_its_own):
    url = f"http://{etcd_of_its_own.endpoint}/v3/kv"
    post(f"{url}/put", {"key": "YQ==", "value": "Yg=="})
    first = etcd_of_its_own.pid
    etcd_of_its_own.kill()
    assert not answers(f"http://{etcd_of_its_own.endpoint}/health")
    etcd_of_its_own.start()
    assert etcd_of_its_own.pid != first
    assert post(f"{url}/range", {"key": "YQ=="})["kvs"][0]["value"] == "Yg=="


def test_a_paused_etcd_says_nothing_until_it_is_resumed(etcd_of_its_own):
    etcd_of_its_own.pause()
    assert not answers(f"http://{etcd_of_its_own.endpoint}/health")
    etcd_of_its_own.resume()
    eventually(lambda: answers(f"http://{etcd_of_its_own.endpoint}/health"))


def test_three_etcds_go_on_without_one_and_not_without_two(etcd_cluster):
    one, two, three = etcd_cluster.members
    one.kill()
    eventually(lambda: puts(two), 60.0)  # the one that was killed may have led
    three.kill()
    assert not puts(two)
