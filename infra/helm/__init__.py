"""The Helm chart (ava), files of values for it, and the Secrets that it reads."""
