"""Questions about video files, from a manifest: the engine, a running service or a bare model answers them."""
