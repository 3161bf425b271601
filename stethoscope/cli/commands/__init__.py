"""Commands that are more than one answer printed: what each asks for; imported when it is asked for, with as little as its help needs."""
