"""The façade for asyncio. `_sync` is made of it by `make clients`; change this one."""
