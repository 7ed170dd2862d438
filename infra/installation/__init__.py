"""The installation on one host, `infra/install`. Standard library only: nothing is installed when it runs."""
