"""A real vLLM on this machine's CPU, in an environment of its own, for `make test-vllm`."""
