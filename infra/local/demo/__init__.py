"""The main job from outside: a customer's program that uses only the REST API."""
