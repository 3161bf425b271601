"""One look at data: rows chosen, and what they hold made small and plain enough for a browser."""
