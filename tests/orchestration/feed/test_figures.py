"""``/metrics``: the host's own figures and those of every actor."""

from dataclasses import replace

from prometheus_client.parser import text_string_to_metric_families

from environment.ports import WriteReport
from tests.environment.stores.making import NOON, report


def samples(text):
    return {
        (sample.name, *(f"{k}={v}" for k, v in sorted(sample.labels.items()) if v and k != "mind")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def test_figures_of_host_and_actors(feed):
    metrics = {"messages_sent_total": 5.0, "limit_hits:mailbox": 2.0}
    await feed.stores.commit([WriteReport(replace(report("causes"), at=NOON, metrics=metrics))])
    await feed.client.post("/v1/perceptions", json={"perceptions": [{"source": "ops", "text": "hello"}]})
    await feed.client.get("/v1/explain/77")
    await feed.client.get("/v1/nothing")
    await feed.client.get("/v1/stream?limit=10001")
    answer = await feed.client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    read = samples(answer.text)
    assert read["submind_messages_sent_total", "role=cognitive"] == 5
    assert read["submind_limit_hits_total", "limit=mailbox", "role=cognitive"] == 2
    assert read["submind_mind_up",] == 1
    assert read["submind_gateway_perceptions_acknowledged_total",] == 1
    requests = {key[1:]: value for key, value in read.items() if key[0] == "submind_http_requests_total"}
    assert requests == {
        ("method=POST", "route=/v1/perceptions", "status=200"): 1,
        ("method=GET", "route=/v1/explain/{id}", "status=404"): 1,
        ("method=GET", "route=(none)", "status=404"): 1,
        ("method=GET", "route=/v1/stream", "status=422"): 1,
    }
    assert any(key[0] == "process_cpu_seconds_total" for key in read)


async def test_strange_methods_and_paths_make_no_new_series(feed):
    for number in range(20):
        await feed.client.request(f"M{number}", f"/v1/nothing-{number}")
        await feed.client.get(f"/static/{number}.js")
    read = samples((await feed.client.get("/metrics")).text)
    series = [key for key in read if key[0] == "submind_http_requests_total"]
    assert len(series) <= 4, series
