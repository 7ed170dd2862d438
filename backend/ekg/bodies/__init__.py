"""Bodies of what the index of a video holds, as the routes of /v1/videos/{id}/… show it."""
