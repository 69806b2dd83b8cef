"""The one asyncio shell: routes, sessions, admission, keys, observation."""
