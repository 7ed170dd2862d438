"""The service as it is deployed, under random faults: `make chaos RUNS=n SEED=s`."""
