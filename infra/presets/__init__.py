"""Environment files of the presets, for the compose file: one per preset of the model table."""
