"""The main job from outside: a customer's program that knows nothing but the REST API."""
