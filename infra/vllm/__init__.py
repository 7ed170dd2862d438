"""A real vLLM on this machine's CPU, in an environment of its own: what `make test-vllm` runs the engine against."""
