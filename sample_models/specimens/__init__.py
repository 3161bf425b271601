"""One faulty program per check and its repaired twin: what the check must raise first, and where it must stay silent."""
