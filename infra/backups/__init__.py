"""Backups of one host: the database and the objects, in a folder or in another bucket.

It runs in the database's image (`ava-backup`), so it needs nothing but boto3 and PostgreSQL's programs.
"""
