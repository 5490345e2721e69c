"""A Ray of its own for one mind: local, lean, closed to everybody else.

The one module besides ``actor_supervisor.py`` that knows Ray. What is switched off here was measured on an idle mind of
fourteen actors (share of one core): log monitor 1.2 %, autoscaler's monitor and dashboard 0.6 %, waiting main threads
of workers 6 % (see ``actor.py``), punctual threads of workers 1.2 % (see ``timer_slack.py``). The raylet's two agents
(dashboard, runtime environments) held 107 MiB and thirty threads, and it starts no worker before they have started.
"""

import contextlib
import importlib
import logging
import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil

from orchestration.runtime.machines.joining import joining_environment
from orchestration.runtime.processes import ProcessRole, role_of
from orchestration.runtime.settings import RuntimeSettings
from orchestration.runtime.worker.timer_slack import AT_LEISURE, PUNCTUAL, set_timer_slack

_NO_AGENT = "sh -c 'exec cat' no-agent"
"""Ends with the raylet, whose pipe it reads."""
_AGENT_PORTS = ("metrics_agent_port", "metrics_export_port", "dashboard_agent_listen_port", "runtime_env_agent_port")
_WORKER = Path(__file__).parents[1] / "worker" / "worker.py"


def ray_environment(settings: RuntimeSettings) -> Mapping[str, str]:
    """Variables that must be set before the mind process imports Ray, where that is one of its own.

    Calls between Ray's processes carry a token that is new with every run, so nobody else on the machine can run
    code in a mind through Ray's ports.
    """
    if settings.cluster.address:
        return joining_environment(settings.cluster)
    calm, calmer = "10000", "60000"
    return {
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(32),
        "RAY_enable_worker_prestart": "1",
        "RAY_prestart_worker_first_driver": "1",
        "RAY_worker_maximum_startup_concurrency": str(settings.starting_at_once),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_DISABLE_IMPORT_WARNING": "1",
        "RAY_task_events_report_interval_ms": "0",
        "RAY_enable_metrics_collection": "0",
        "RAY_metrics_report_interval_ms": calmer,
        "RAY_event_stats": "0",
        "RAY_memory_monitor_refresh_ms": "0",
        "RAY_report_worker_backlog_interval_ms": calmer,
        "RAY_core_worker_internal_heartbeat_ms": "500",  # how soon an actor's death is noticed hangs on these two
        "RAY_timeout_ms_task_wait_for_death_info": "100",
        "RAY_raylet_report_resources_period_milliseconds": "2000",
        "RAY_gcs_pull_resource_loads_period_milliseconds": calm,
        "RAY_io_context_monitor_probe_interval_ms": calmer,
        "RAY_io_context_event_loop_lag_collection_interval_ms": calmer,
        "RAY_raylet_check_gc_period_milliseconds": calm,
        "RAY_kill_idle_workers_interval_ms": calm,
        "RAY_raylet_liveness_self_check_interval_ms": calmer,
        "RAY_debug_dump_period_milliseconds": "0",
    }


def start(run_dir: Path, namespace: str, actors: int, settings: RuntimeSettings) -> None:
    """Start Ray for ``actors`` actors. In the main thread: Ray's processes die with the thread that starts them."""
    import ray  # noqa: PLC0415 - a third of a second, and `ray_environment` comes first

    with _lean_node():
        ray.init(
            "local",  # whatever cluster RAY_ADDRESS names
            num_cpus=actors,
            num_gpus=0,
            include_dashboard=False,
            log_to_driver=False,
            configure_logging=False,
            logging_level=logging.ERROR,
            namespace=namespace,
            object_store_memory=settings.object_store_bytes,
            _temp_dir=str(run_dir / "r"),
            _node_ip_address="127.0.0.1",
        )


@contextlib.contextmanager
def _lean_node() -> Iterator[None]:
    """While it lasts, ``ray.init`` starts no log monitor, autoscaler, dashboard or agent: it has no option for that."""
    module: Any = importlib.import_module("ray._private.node")
    services: Any = importlib.import_module("ray._private.services")

    whole: Any = module.Node
    start_process: Any = services.start_ray_process

    def start_without_agents(command: list[str], *args: Any, **options: Any) -> Any:
        agents = ("--dashboard_agent_command=", "--runtime_env_agent_command=")
        command = [f"{part.partition('=')[0]}={_NO_AGENT}" if part.startswith(agents) else part for part in command]
        return start_process(command, *args, **options)

    class LeanNode(whole):  # type: ignore[misc]  # Ray's internals are not typed
        def __init__(self, ray_params: Any, **options: Any) -> None:
            ray_params.update(include_log_monitor=False, no_monitor=True, worker_path=str(_WORKER))
            super().__init__(ray_params, **options)
            set_timer_slack(AT_LEISURE)  # for the threads of this driver, which ray.init starts next

        def start_gcs_server(self) -> None:
            set_timer_slack(AT_LEISURE)  # for the GCS, which inherits it; a late raylet would start late
            super().start_gcs_server()
            set_timer_slack(PUNCTUAL)

        def start_raylet(self, *args: Any, **options: Any) -> None:
            for port in _AGENT_PORTS:  # what an agent writes that serves nothing there
                Path(self._session_dir, f"{port}_{self._node_id}").write_text("-1", "ascii")
            super().start_raylet(*args, **options)

        def start_api_server(self, **_: Any) -> None:
            self._webui_url = ""

    module.Node, services.start_ray_process = LeanNode, start_without_agents
    try:
        yield
    finally:
        module.Node, services.start_ray_process = whole, start_process
        set_timer_slack(PUNCTUAL)


def stop() -> None:
    """Leave Ray: one that was started here ends, with everything it started; of another only this mind's actors."""
    import ray  # noqa: PLC0415 - as above

    ray.shutdown()


def service_pids() -> dict[str, int]:
    """Raylet and GCS by role: without either this mind process has to begin anew."""
    found = {}
    for child in psutil.Process(os.getpid()).children():
        role = role_of(child)
        if role in {ProcessRole.RAYLET, ProcessRole.GCS}:
            found[str(role)] = child.pid
    return found
