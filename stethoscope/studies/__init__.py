"""Several jobs that answer one question: diagnosis, lab, monitors, report."""
