"""Alert rules, dashboards and the configuration of Prometheus, and their check."""
