"""`ava record`: send what a camera shows, piece by piece, from where the camera is. It needs the package of the extra
`record` (PyAV)."""
